package controller

import (
	"context"
	"fmt"

	"github.com/weir-broker/weir/broker/metadata"
)

// minMetadataVersion is the lowest metadata.version of Kafka 4: 3.3-IV3.
const minMetadataVersion metadata.FeatureLevel = 7

// newestMetadataVersion is the newest one that Kafka 4.4 has a name for: 4.4-IV2.
const newestMetadataVersion metadata.FeatureLevel = 33

// metadataChanged are the levels of metadata.version, above the lowest, that
// changed what Kafka's metadata records hold. A downgrade past one of these
// would lose information, so Kafka refuses it.
var metadataChanged = map[metadata.FeatureLevel]bool{
	8: true, 11: true, 13: true, 14: true, 15: true, 17: true, 23: true, 30: true, 32: true, 33: true,
}

// featureDependencies are levels of metadata.version that a feature level needs.
var featureDependencies = map[metadata.Feature]metadata.FeatureLevel{
	{Name: "eligible.leader.replicas.version", Level: 1}: 23,
}

// UpdateFeatures changes finalized feature levels, all of them or none. The
// error is an *Error when the request is refused.
func (c *Controller) UpdateFeatures(ctx context.Context, req UpdateFeaturesRequest) error {
	var refused *Error
	err := c.submit(ctx, func(s state) []metadata.Record {
		var records []metadata.Record
		records, refused = s.updateFeatures(req)
		return records
	})
	return oneError(err, refused)
}

func (s state) updateFeatures(req UpdateFeaturesRequest) ([]metadata.Record, *Error) {
	// Of a feature that is named twice the last update counts.
	var updates []FeatureUpdate
	at := make(map[string]int)
	proposed := make(map[string]metadata.FeatureLevel)
	for name, level := range s.image.Features() {
		proposed[name] = level
	}
	for _, u := range req.Updates {
		if i, twice := at[u.Name]; twice {
			updates[i] = u
		} else {
			at[u.Name] = len(updates)
			updates = append(updates, u)
		}
		proposed[u.Name] = u.Level
	}
	var records []metadata.Record
	for _, u := range updates {
		if err := s.checkFeatureUpdate(u, proposed); err != nil {
			err.Message = "The update failed for all features since the following feature had an error: " + err.Message
			return nil, err
		}
		records = append(records, &metadata.Feature{Name: u.Name, Level: u.Level})
	}
	if req.ValidateOnly {
		return nil, nil
	}
	return records, nil
}

func (s state) checkFeatureUpdate(u FeatureUpdate, proposed map[string]metadata.FeatureLevel) *Error {
	invalid := func(format string, args ...any) *Error {
		return errorf(InvalidUpdateVersion, "Invalid update version %d for feature %s. %s", u.Level, u.Name, fmt.Sprintf(format, args...))
	}
	if u.Upgrade < Upgrade || u.Upgrade > UnsafeDowngrade {
		return invalid("The controller does not support the given upgrade type.")
	}
	if u.Level < 0 {
		return invalid("A feature version cannot be less than 0.")
	}
	if why := s.notSupported(u); why != "" {
		return invalid("%s", why)
	}
	current := s.image.Feature(u.Name)
	switch {
	case u.Level < current && u.Upgrade == Upgrade:
		return invalid("Can't downgrade the version of this feature without setting the upgrade type to either safe or unsafe downgrade.")
	case u.Level > current && u.Upgrade != Upgrade:
		return invalid("Can't downgrade to a newer version.")
	}
	if u.Name == metadata.MetadataFeature {
		return checkMetadataVersion(u, current)
	}
	if u.Level >= 1 && proposed[metadata.MetadataFeature] < minMetadataVersion {
		return invalid("%s could not be set to %d because it depends on metadata.version=%d (3.3-IV3)", u.Name, u.Level, minMetadataVersion)
	}
	if need, ok := featureDependencies[metadata.Feature{Name: u.Name, Level: u.Level}]; ok && proposed[metadata.MetadataFeature] < need {
		return invalid("%s could not be set to %d because it depends on %s level %d", u.Name, u.Level, metadata.MetadataFeature, need)
	}
	return nil
}

// notSupported says who cannot run with a feature at that level.
func (s state) notSupported(u FeatureUpdate) string {
	own := metadata.SupportedFeature{}
	for _, f := range s.features {
		if f.Name == u.Name {
			own = f
		}
	}
	if why := outside(own, u.Level); why != "" {
		return fmt.Sprintf("Local controller %d %s", s.nodeID, why)
	}
	for id, b := range s.image.Brokers() {
		f, _ := b.Feature(u.Name)
		if why := outside(f, u.Level); why != "" {
			return fmt.Sprintf("Broker %d %s", id, why)
		}
	}
	return ""
}

func outside(f metadata.SupportedFeature, level metadata.FeatureLevel) string {
	switch {
	case level >= f.Min && level <= f.Max:
		return ""
	case f.Max == 0:
		return "does not support this feature."
	case f.Min == f.Max:
		return fmt.Sprintf("only supports versions %d", f.Min)
	}
	return fmt.Sprintf("only supports versions %d-%d", f.Min, f.Max)
}

func checkMetadataVersion(u FeatureUpdate, current metadata.FeatureLevel) *Error {
	if u.Level < minMetadataVersion || u.Level > newestMetadataVersion {
		return errorf(InvalidUpdateVersion, "Invalid metadata.version %d. Valid versions are from %d to %d.",
			u.Level, minMetadataVersion, newestMetadataVersion)
	}
	for level := u.Level + 1; level <= current; level++ {
		if !metadataChanged[level] {
			continue
		}
		why := "Refusing to perform the requested downgrade because it might delete metadata information."
		if u.Upgrade == UnsafeDowngrade {
			why = "Unsafe metadata downgrade is not supported in this version."
		}
		return errorf(InvalidUpdateVersion, "Unsupported metadata.version downgrade from %d to %d. %s", current, u.Level, why)
	}
	return nil
}
