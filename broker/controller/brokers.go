package controller

import (
	"context"
	"slices"
	"strings"

	"github.com/weir-broker/weir/broker/metadata"
)

// RegisterBroker registers a broker's process and returns its epoch. The error
// is an *Error when the registration is refused.
func (c *Controller) RegisterBroker(ctx context.Context, req BrokerRegistration) (metadata.BrokerEpoch, error) {
	var epoch metadata.BrokerEpoch
	var refused *Error
	err := c.submit(ctx, func(s state) []metadata.Record {
		var records []metadata.Record
		records, epoch, refused = s.registerBroker(req)
		return records
	})
	return epoch, oneError(err, refused)
}

// oneError is for operations on one item.
func oneError(err error, refused *Error) error {
	if err != nil {
		return err
	}
	if refused != nil {
		return refused
	}
	return nil
}

func (s state) registerBroker(req BrokerRegistration) ([]metadata.Record, metadata.BrokerEpoch, *Error) {
	if req.ClusterID != s.image.ClusterID {
		return nil, 0, errorf(InconsistentClusterID, "Expected cluster ID %s, but got cluster ID %s", s.image.ClusterID, req.ClusterID)
	}
	if err := s.checkLogDirs(req); err != nil {
		return nil, 0, err
	}
	if err := s.checkFeatures(req.Features); err != nil {
		return nil, 0, err
	}
	b := metadata.Broker{
		ID: req.ID, IncarnationID: req.IncarnationID, Rack: req.Rack, Endpoints: req.Endpoints,
		Features: slices.SortedFunc(slices.Values(req.Features), func(x, y metadata.SupportedFeature) int {
			return strings.Compare(x.Name, y.Name)
		}),
		LogDirs: slices.SortedFunc(slices.Values(req.LogDirs), compareDirs),
	}
	old := s.image.Broker(req.ID)
	if old != nil && old.IncarnationID == req.IncarnationID {
		b.Epoch, b.Fenced, b.InControlledShutdown = old.Epoch, old.Fenced, old.InControlledShutdown
		b.CordonedDirs = old.CordonedDirs
		return []metadata.Record{&metadata.RegisterBroker{Broker: b}}, b.Epoch, nil
	}
	// Any number above all earlier epochs would do. Kafka takes the position of
	// the record; this image's successor is at least one further.
	b.Epoch = metadata.BrokerEpoch(s.image.Index) + 1
	if old != nil {
		b.Epoch = max(b.Epoch, old.Epoch+1)
	}
	b.Fenced = !req.Ready
	var records []metadata.Record
	if req.Ready {
		records = s.brokerReplaced(req.ID, req.LogDirs)
	} else if old != nil {
		records = s.brokerGone(req.ID)
	}
	return append(records, &metadata.RegisterBroker{Broker: b}), b.Epoch, nil
}

func compareDirs(a, b metadata.DirID) int { return strings.Compare(string(a[:]), string(b[:])) }

func (s state) checkLogDirs(req BrokerRegistration) *Error {
	if len(req.LogDirs) == 0 {
		return errorf(InvalidRegistration, "No directories specified in request")
	}
	seen := make(map[metadata.DirID]bool)
	for _, dir := range req.LogDirs {
		if dir.Reserved() {
			return errorf(InvalidRegistration, "Reserved directory ID in request")
		}
		if seen[dir] {
			return errorf(InvalidRegistration, "Duplicate directory ID in request")
		}
		seen[dir] = true
	}
	for id, b := range s.image.Brokers() {
		for _, dir := range b.LogDirs {
			if id != req.ID && seen[dir] {
				return errorf(InvalidRegistration, "Broker %d is already registered with directory %s", id, dir)
			}
		}
	}
	return nil
}

// checkFeatures says why a broker that supports these features cannot join a
// cluster with the levels it has.
func (s state) checkFeatures(supported []metadata.SupportedFeature) *Error {
	ranges := make(map[string]metadata.SupportedFeature, len(supported))
	for _, f := range supported {
		ranges[f.Name] = f
		if level := s.image.Feature(f.Name); level < f.Min || level > f.Max {
			return featureNotSupported(f, level)
		}
	}
	if _, ok := ranges[metadata.MetadataFeature]; !ok {
		return errorf(InvalidRegistration, "Request features do not contain '%s'", metadata.MetadataFeature)
	}
	for name, level := range s.image.Features() {
		if _, ok := ranges[name]; !ok {
			return featureNotSupported(metadata.SupportedFeature{Name: name}, level)
		}
	}
	return nil
}

func featureNotSupported(f metadata.SupportedFeature, level metadata.FeatureLevel) *Error {
	return errorf(UnsupportedVersion, "Unable to register because the broker does not support finalized version %d of %s. "+
		"The broker wants a version between %d and %d, inclusive.", level, f.Name, f.Min, f.Max)
}

// UnregisterBroker removes a broker's registration. Its replicas stay assigned.
func (c *Controller) UnregisterBroker(ctx context.Context, id metadata.BrokerID) error {
	var refused *Error
	err := c.submit(ctx, func(s state) []metadata.Record {
		var records []metadata.Record
		records, refused = s.unregisterBroker(id)
		return records
	})
	return oneError(err, refused)
}

func (s state) unregisterBroker(id metadata.BrokerID) ([]metadata.Record, *Error) {
	b := s.image.Broker(id)
	if b == nil {
		return nil, errorf(BrokerIDNotRegistered, "Broker ID %d is not currently registered", id)
	}
	return append(s.brokerGone(id), &metadata.UnregisterBroker{ID: id, Epoch: b.Epoch}), nil
}

// BrokerHeartbeat takes a broker's report and moves it between fenced, active
// and controlled shutdown.
func (c *Controller) BrokerHeartbeat(ctx context.Context, req BrokerHeartbeat) (HeartbeatResult, error) {
	var result HeartbeatResult
	var refused *Error
	err := c.submit(ctx, func(s state) []metadata.Record {
		var records []metadata.Record
		records, result, refused = s.heartbeat(req)
		return records
	})
	return result, oneError(err, refused)
}

func (s state) heartbeat(req BrokerHeartbeat) ([]metadata.Record, HeartbeatResult, *Error) {
	b, err := s.registration(req.ID, req.Epoch)
	if err != nil {
		return nil, HeartbeatResult{}, err
	}
	change := &metadata.BrokerChange{ID: b.ID, Epoch: b.Epoch}
	result := HeartbeatResult{CaughtUp: req.CaughtUp}
	yes, no := true, false
	var records []metadata.Record
	switch {
	case b.Fenced && req.WantShutDown:
		result.Fenced, result.ShouldShutDown = true, true
	case b.Fenced:
		result.Fenced = true
		// A directory that went offline meanwhile is seen to first: its
		// partitions must not be led from it.
		if req.CaughtUp && !req.WantFence && len(without(b.LogDirs, req.OfflineDirs)) == len(b.LogDirs) {
			result.Fenced = false
			change.Fenced = &no
			records = s.brokerBack(b.ID)
		}
	case req.WantFence, req.WantShutDown && (b.InControlledShutdown && !s.leads(b.ID) || s.image.BrokerCount() == 1):
		// The last broker has nobody to hand its partitions to.
		result.Fenced, result.ShouldShutDown = true, req.WantShutDown
		change.Fenced = &yes
		records = s.brokerGone(b.ID)
	case req.WantShutDown && !b.InControlledShutdown:
		change.InControlledShutdown = &yes
		records = s.brokerGone(b.ID)
	}
	if dirs := without(b.LogDirs, req.OfflineDirs); len(dirs) != len(b.LogDirs) {
		change.LogDirs = dirs
		if len(records) == 0 {
			records = s.dirsGone(b.ID, req.OfflineDirs)
		}
	}
	if change.Fenced == nil && change.InControlledShutdown == nil && change.LogDirs == nil {
		return records, result, nil
	}
	return append(records, change), result, nil
}

func without(dirs, gone []metadata.DirID) []metadata.DirID {
	left := make([]metadata.DirID, 0, len(dirs))
	for _, d := range dirs {
		if !slices.Contains(gone, d) {
			left = append(left, d)
		}
	}
	return left
}

func (s state) leads(id metadata.BrokerID) bool {
	for _, t := range s.image.Topics() {
		for _, p := range t.Partitions() {
			if p.Leader == id {
				return true
			}
		}
	}
	return false
}

// registration returns a broker when it is registered under that epoch.
func (s state) registration(id metadata.BrokerID, epoch metadata.BrokerEpoch) (*metadata.Broker, *Error) {
	b := s.image.Broker(id)
	if b == nil {
		return nil, errorf(StaleBrokerEpoch, "No broker registration found for broker id %d", id)
	}
	if b.Epoch != epoch {
		return nil, errorf(StaleBrokerEpoch, "Expected broker epoch %d, but got broker epoch %d", b.Epoch, epoch)
	}
	return b, nil
}
