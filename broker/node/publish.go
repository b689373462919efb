package node

import (
	"strconv"

	"github.com/weir-broker/weir/broker/config"
	"github.com/weir-broker/weir/broker/metadata"
)

// publish gives one image to all who follow the metadata, in this order: dynamic broker configuration, then the hosted
// partitions, then the coordinators that live in them, then the API. So what a client is told exists can be used, and is used with the configuration that goes
// with it. The quorum calls it for one image after the other.
func (n *Node) publish(img *metadata.Image) {
	if img.ClusterID == "" {
		return // a new cluster that is not formatted yet: nothing in it says what belongs on disk
	}
	if effective, err := effectiveConfig(n.config, img); err != nil {
		n.log.Warn("dynamic configuration left out", "error", err)
		n.api.SetConfig(effective)
	} else if effective != nil {
		n.api.SetConfig(effective)
	}
	if err := n.table.Apply(img); err != nil {
		n.log.Error("image not applied", "index", img.Index, "error", err)
	}
	n.groups.apply(img)
	n.api.Publish(img)
	n.directoriesMoved()
}

// effectiveConfig puts the dynamic values of the cluster and of this broker over the static configuration.
func effectiveConfig(static *config.Broker, img *metadata.Image) (*config.Broker, error) {
	broker := img.Configs(metadata.Resource{Type: metadata.BrokerResource, Name: strconv.Itoa(int(static.NodeID))})
	cluster := img.Configs(metadata.Resource{Type: metadata.BrokerResource})
	return static.WithDynamic(broker.Map(), cluster.Map())
}
