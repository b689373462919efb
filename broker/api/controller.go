package api

import (
	"context"

	"github.com/weir-broker/weir/broker/controller"
	"github.com/weir-broker/weir/broker/metadata"
)

// Controller is what api asks of the metadata leader.
type Controller interface {
	topicController
	clusterController
	producerIDController
}

var _ Controller = (*controller.Controller)(nil)

type topicController interface {
	CreateTopics(context.Context, controller.CreateTopicsRequest) ([]controller.CreateTopicResult, error)
	DeleteTopics(context.Context, []controller.TopicRef) ([]controller.DeleteTopicResult, error)
	CreatePartitions(context.Context, controller.CreatePartitionsRequest) ([]controller.CreatePartitionsResult, error)
}

type clusterController interface {
	AlterConfigs(context.Context, controller.AlterConfigsRequest) ([]controller.AlterConfigsResult, error)
	IncrementalAlterConfigs(context.Context, controller.IncrementalAlterConfigsRequest) ([]controller.AlterConfigsResult, error)
	UpdateFeatures(context.Context, controller.UpdateFeaturesRequest) error
}

type producerIDController interface {
	AllocateProducerIDs(context.Context, metadata.BrokerID, metadata.BrokerEpoch) (controller.ProducerIDBlock, error)
}
