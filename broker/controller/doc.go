// Package controller is what the metadata leader decides: which topics and
// partitions there are, where their replicas live, who leads them, which
// configurations and feature levels hold, which brokers are registered.
//
// Decisions are pure functions of the newest metadata.Image, the request and an
// injected source of randomness; they return records and one result per item
// and change nothing. One file per noun holds them: topics, partitions,
// configs, brokers, producer_ids, features, placement, elections. loop.go is the
// only thing that runs: it waits until this node leads and has applied all that
// came before, then takes one request after the other, decides, proposes the
// records, and answers when they are applied.
//
//	api -> Controller.X(ctx, request) -> loop: decide(image) -> quorum.Propose -> applied -> reply
//
// It owns no state but the image that the records of requests in flight lead
// to. It does not know the Kafka wire: requests and results are plain structs
// and errors are *Error with a Kind that api maps to Kafka's codes.
package controller
