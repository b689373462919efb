package controller

import (
	"strconv"

	"github.com/weir-broker/weir/broker/config"
	"github.com/weir-broker/weir/broker/metadata"
)

// rules are what decisions need besides the image and the request.
type rules struct {
	nodeID     metadata.BrokerID
	config     *config.Broker // without dynamic values
	features   []metadata.SupportedFeature
	random     Random
	newTopicID func() metadata.TopicID
	// staticElection is what the configuration file says of unclean elections.
	staticElection electionKind

	// The configuration with the dynamic values of the image it was last asked
	// for: derived, so that deciding stays a function of its input.
	effective                      *config.Broker
	effectiveNode, effectiveShared *metadata.Configs
}

// state is what one decision is made on.
type state struct {
	*rules
	image *metadata.Image
}

func newRules(o Options) rules {
	return rules{
		nodeID: o.NodeID, config: o.Config, features: o.Features, random: o.Random, newTopicID: o.NewTopicID,
		staticElection: kindOf(o.Config.Static()[uncleanElectionKey]),
	}
}

func (r *rules) state(img *metadata.Image) state { return state{rules: r, image: img} }

// broker returns this node's configuration with the image's dynamic values.
func (s state) broker() *config.Broker {
	node := s.image.Configs(brokerResource(s.nodeID))
	shared := s.image.Configs(metadata.Resource{Type: metadata.BrokerResource})
	if node == nil && shared == nil {
		return s.config
	}
	if s.effective != nil && s.effectiveNode == node && s.effectiveShared == shared {
		return s.effective
	}
	b, err := s.config.WithDynamic(node.Map(), shared.Map())
	if err != nil {
		// Validated when they were set; a newer program's values that this one
		// does not take leave the static ones.
		return s.config
	}
	s.effective, s.effectiveNode, s.effectiveShared = b, node, shared
	return b
}

func brokerResource(id metadata.BrokerID) metadata.Resource {
	return metadata.Resource{Type: metadata.BrokerResource, Name: strconv.Itoa(int(id))}
}

// usable reports whether a broker may be given new replicas.
func usable(b *metadata.Broker) bool {
	return !b.InControlledShutdown && uncordoned(b)
}

// uncordoned reports whether some log directory takes new replicas (KIP-1066).
func uncordoned(b *metadata.Broker) bool {
	return len(b.CordonedDirs) == 0 || len(b.CordonedDirs) < len(b.LogDirs)
}

// active reports whether broker id may lead and be in an ISR.
func (s state) active(id metadata.BrokerID) bool {
	b := s.image.Broker(id)
	return b != nil && b.Active()
}

// activeOf returns the active ones of ids, in their order.
func (s state) activeOf(ids []metadata.BrokerID) []metadata.BrokerID {
	out := make([]metadata.BrokerID, 0, len(ids))
	for _, id := range ids {
		if s.active(id) {
			out = append(out, id)
		}
	}
	return out
}

// defaultDir is the log directory of a new replica: the broker's only one, or
// unassigned, which lets the broker choose.
func (s state) defaultDir(id metadata.BrokerID) metadata.DirID {
	b := s.image.Broker(id)
	switch {
	case b == nil:
		return metadata.DirMigrating
	case len(b.LogDirs) == 1:
		return b.LogDirs[0]
	}
	return metadata.DirUnassigned
}

// newPartition is the first state of a partition: the first active replica
// leads, the active ones are in sync.
func (s state) newPartition(replicas, isr []metadata.BrokerID) metadata.Partition {
	p := metadata.Partition{Replicas: replicas, ISR: isr, Leader: isr[0]}
	p.Directories = make([]metadata.DirID, len(replicas))
	for i, id := range replicas {
		p.Directories[i] = s.defaultDir(id)
	}
	return p
}
