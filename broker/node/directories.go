package node

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/weir-broker/weir/broker/controller"
	"github.com/weir-broker/weir/broker/metadata"
)

const (
	reportTimeout = 10 * time.Second // for the controller to take a report
	reportAgain   = time.Second      // after a report that it did not take
)

// directoriesMoved has the controller told, soon, of what changed about log directories. It does not block.
func (n *Node) directoriesMoved() {
	select {
	case n.moved <- struct{}{}:
	default:
	}
}

// reportDirectoriesLoop tells the controller which directory each replica is in, and which directories are offline, so
// that no partition is led from one of those (KIP-858). It runs beside the publishing of images, which must not wait for
// the controller.
func (n *Node) reportDirectoriesLoop(epoch metadata.BrokerEpoch) {
	var again <-chan time.Time
	for {
		select {
		case <-n.stopping:
			return
		case <-n.moved:
		case <-again:
		}
		again = nil
		switch err := n.reportDirectories(epoch); {
		case errors.Is(err, controller.ErrClosed):
			return
		case err != nil:
			n.log.Warn("log directories not reported to the controller", "error", err)
			again = time.After(reportAgain)
		}
	}
}

func (n *Node) reportDirectories(epoch metadata.BrokerEpoch) error {
	ctx, cancel := context.WithTimeout(context.Background(), reportTimeout)
	defer cancel()
	id, img := metadata.BrokerID(n.config.NodeID), n.quorum.Image()
	broker := img.Broker(id)
	if broker == nil || broker.Epoch != epoch {
		return nil
	}
	if replicas := n.unassigned(img, id); len(replicas) > 0 {
		refused, err := n.controller.AssignReplicasToDirs(ctx, controller.AssignReplicasToDirs{ID: id, Epoch: epoch, Replicas: replicas})
		if err != nil {
			return fmt.Errorf("directories of replicas: %w", err)
		}
		for i, err := range refused {
			if err != nil { // deleted meanwhile
				n.log.Debug("directory of a replica not taken", "partition", replicas[i].Index, "error", err)
			}
		}
	}
	var offline []metadata.DirID
	for _, d := range n.dirs {
		if _, failed := d.Offline(); failed && slices.Contains(broker.LogDirs, metadata.DirID(d.ID())) {
			offline = append(offline, metadata.DirID(d.ID()))
		}
	}
	if len(offline) == 0 || len(offline) == len(broker.LogDirs) {
		return nil // without any directory the node stops
	}
	_, err := n.controller.BrokerHeartbeat(ctx, controller.BrokerHeartbeat{ID: id, Epoch: epoch, CaughtUp: true, OfflineDirs: offline})
	if err != nil {
		return fmt.Errorf("offline directories: %w", err)
	}
	return nil
}

// unassigned are the replicas here whose directory is not the one that the image says. With a single entry in log.dirs
// the controller needs no telling.
func (n *Node) unassigned(img *metadata.Image, id metadata.BrokerID) []controller.DirAssignment {
	if len(n.config.LogDirs) < 2 {
		return nil
	}
	var replicas []controller.DirAssignment
	for _, p := range n.table.All() {
		dir, topic := p.Directory(), img.TopicByID(p.TopicID())
		if dir.Reserved() || topic == nil {
			continue
		}
		if m := topic.Partition(p.Index()); m != nil && m.IsReplica(id) && m.Directory(id) != dir {
			replicas = append(replicas, controller.DirAssignment{TopicID: topic.ID, Index: p.Index(), Dir: dir})
		}
	}
	return replicas
}
