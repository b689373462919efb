package controller

import (
	"context"
	"strings"

	"github.com/weir-broker/weir/broker/metadata"
)

const (
	maxTopicNameLength   = 249
	maxPartitionsPerCall = 10_000
	clusterMetadataTopic = "__cluster_metadata"
)

// CreateTopics creates topics. Each succeeds or fails on its own; those that
// succeed take effect together.
func (c *Controller) CreateTopics(ctx context.Context, req CreateTopicsRequest) ([]CreateTopicResult, error) {
	var results []CreateTopicResult
	err := c.submit(ctx, func(s state) []metadata.Record {
		var records []metadata.Record
		records, results = s.createTopics(req)
		return records
	})
	if err != nil {
		return nil, err
	}
	return results, nil
}

func (s state) createTopics(req CreateTopicsRequest) ([]metadata.Record, []CreateTopicResult) {
	topics, duplicates := uniqueTopics(req.Topics)
	tooMany := s.tooManyPartitions(topics)
	var records []metadata.Record
	results := make([]CreateTopicResult, 0, len(topics)+len(duplicates))
	for i := range topics {
		t := &topics[i]
		result := CreateTopicResult{Name: t.Name}
		switch {
		case tooMany:
			result.Err = errorf(PolicyViolation, "Excessively large number of partitions per request.")
		case t.Name == clusterMetadataTopic:
			result.Err = errorf(InvalidRequest, "Creation of internal topic %s is prohibited.", clusterMetadataTopic)
		default:
			var created []metadata.Record
			created, result = s.createTopic(t)
			records = append(records, created...)
		}
		results = append(results, result)
	}
	for _, name := range duplicates {
		results = append(results, CreateTopicResult{Name: name, Err: errorf(InvalidRequest, "Duplicate topic name.")})
	}
	if req.ValidateOnly {
		return nil, results
	}
	return records, results
}

// uniqueTopics splits off the names that occur more than once: none of those is
// created.
func uniqueTopics(topics []CreateTopic) (unique []CreateTopic, duplicates []string) {
	count := make(map[string]int, len(topics))
	for i := range topics {
		count[topics[i].Name]++
	}
	for i := range topics {
		switch n := count[topics[i].Name]; {
		case n == 1:
			unique = append(unique, topics[i])
		case n > 1:
			duplicates = append(duplicates, topics[i].Name)
			count[topics[i].Name] = -1
		}
	}
	return unique, duplicates
}

func (s state) tooManyPartitions(topics []CreateTopic) bool {
	total := int64(0)
	for i := range topics {
		t := &topics[i]
		switch {
		case len(t.Assignments) > 0:
			total += int64(len(t.Assignments))
		case t.Partitions == -1:
			total += int64(s.broker().NumPartitions)
		case t.Partitions > 0:
			total += int64(t.Partitions)
		}
	}
	return total > maxPartitionsPerCall
}

func (s state) createTopic(t *CreateTopic) ([]metadata.Record, CreateTopicResult) {
	result := CreateTopicResult{Name: t.Name}
	if result.Err = s.checkNewName(t.Name); result.Err != nil {
		return nil, result
	}
	configs, err := s.newTopicConfigs(t)
	if err != nil {
		result.Err = err
		return nil, result
	}
	partitions, err := s.newPartitions(t)
	if err != nil {
		result.Err = err
		return nil, result
	}
	result.ID = s.newTopicID()
	if result.Describable = t.Describable; t.Describable {
		result.Partitions = int32(len(partitions))
		result.ReplicationFactor = int16(len(partitions[0].Replicas))
		result.Configs = s.effectiveTopicConfigs(configs)
	}
	records := make([]metadata.Record, 0, 1+len(configs)+len(partitions))
	records = append(records, &metadata.NewTopic{ID: result.ID, Name: t.Name})
	for _, key := range sortedKeys(configs) {
		value := configs[key]
		records = append(records, &metadata.Config{Resource: topicResource(t.Name), Key: key, Value: &value})
	}
	for i := range partitions {
		records = append(records, &metadata.NewPartition{TopicID: result.ID, Index: int32(i), Partition: partitions[i]})
	}
	return records, result
}

func topicResource(name string) metadata.Resource {
	return metadata.Resource{Type: metadata.TopicResource, Name: name}
}

// checkNewName says why a topic cannot be created under name. That it exists
// outweighs the rest.
func (s state) checkNewName(name string) *Error {
	if s.image.Topic(name) != nil {
		return errorf(TopicAlreadyExists, "Topic '%s' already exists.", name)
	}
	if other, ok := s.image.Colliding(name); ok {
		return errorf(InvalidTopic, "Topic '%s' collides with existing topic: %s", name, other)
	}
	return checkTopicName(name)
}

// checkTopicName says what is wrong with a topic's name, if anything.
func checkTopicName(name string) *Error {
	const prefix = "Topic name is invalid: "
	switch {
	case name == "":
		return errorf(InvalidTopic, prefix+"the empty string is not allowed")
	case name == "." || name == "..":
		return errorf(InvalidTopic, prefix+"'%s' is not allowed", name)
	case javaLength(name) > maxTopicNameLength:
		return errorf(InvalidTopic, prefix+"the length of '%s' is longer than the max allowed length %d", name, maxTopicNameLength)
	case strings.ContainsFunc(name, func(r rune) bool { return !topicNameRune(r) }):
		return errorf(InvalidTopic, prefix+"'%s' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'", name)
	}
	return nil
}

func topicNameRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '_' || r == '-'
}

// newPartitions places the partitions of a new topic.
func (s state) newPartitions(t *CreateTopic) ([]metadata.Partition, *Error) {
	switch {
	case len(t.Assignments) > 0:
		return s.assignedPartitions(t)
	case t.ReplicationFactor < -1 || t.ReplicationFactor == 0:
		return nil, errorf(InvalidReplicationFactor, "Replication factor must be larger than 0, or -1 to use the default value.")
	case t.Partitions < -1 || t.Partitions == 0:
		return nil, errorf(InvalidPartitions, "Number of partitions was set to an invalid non-positive value.")
	}
	count, factor := t.Partitions, t.ReplicationFactor
	if count == -1 {
		count = s.broker().NumPartitions
	}
	if factor == -1 {
		factor = s.broker().DefaultReplicationFactor
	}
	placed, err := s.place(int(count), int(factor))
	if err != nil {
		return nil, errorf(err.Kind, "Unable to replicate the partition %d time(s): %s", factor, err.Message)
	}
	partitions := make([]metadata.Partition, len(placed))
	for i, replicas := range placed {
		isr := s.activeOf(replicas)
		if len(isr) == 0 {
			return nil, errorf(InvalidReplicationFactor, "Unable to replicate the partition %d time(s): "+
				"All brokers are currently fenced or in controlled shutdown.", factor)
		}
		partitions[i] = s.newPartition(replicas, isr)
	}
	return partitions, nil
}

// assignedPartitions builds partitions that were placed by hand.
func (s state) assignedPartitions(t *CreateTopic) ([]metadata.Partition, *Error) {
	if t.ReplicationFactor != -1 {
		return nil, errorf(InvalidRequest, "A manual partition assignment was specified, but replication factor was not set to -1.")
	}
	if t.Partitions != -1 {
		return nil, errorf(InvalidRequest, "A manual partition assignment was specified, but numPartitions was not set to -1.")
	}
	byIndex := make(map[int32]metadata.Partition, len(t.Assignments))
	factor := -1
	for _, a := range t.Assignments {
		if _, twice := byIndex[a.Index]; twice {
			return nil, errorf(InvalidReplicaAssignment, "Found multiple manual partition assignments for partition %d", a.Index)
		}
		if err := s.checkAssignment(a.Brokers, factor); err != nil {
			return nil, err
		}
		factor = len(a.Brokers)
		isr := s.activeOf(a.Brokers)
		if len(isr) == 0 {
			return nil, allInactive(a.Index)
		}
		byIndex[a.Index] = s.newPartition(a.Brokers, isr)
	}
	partitions := make([]metadata.Partition, len(byIndex))
	for i := range partitions {
		p, ok := byIndex[int32(i)]
		if !ok {
			return nil, errorf(InvalidReplicaAssignment, "partitions should be a consecutive 0-based integer sequence")
		}
		partitions[i] = p
	}
	return partitions, nil
}

func allInactive(index int32) *Error {
	return errorf(InvalidReplicaAssignment, "All brokers specified in the manual partition assignment for partition %d "+
		"are fenced or in controlled shutdown.", index)
}

// DeleteTopics deletes topics by name or id, each on its own.
func (c *Controller) DeleteTopics(ctx context.Context, refs []TopicRef) ([]DeleteTopicResult, error) {
	var results []DeleteTopicResult
	err := c.submit(ctx, func(s state) []metadata.Record {
		var records []metadata.Record
		records, results = s.deleteTopics(refs)
		return records
	})
	if err != nil {
		return nil, err
	}
	return results, nil
}

func (s state) deleteTopics(refs []TopicRef) ([]metadata.Record, []DeleteTopicResult) {
	seen := make(map[TopicRef]int, len(refs))
	for _, r := range refs {
		seen[r]++
	}
	var records []metadata.Record
	var results []DeleteTopicResult
	deleted := make(map[metadata.TopicID]bool)
	for _, r := range refs {
		result := DeleteTopicResult{Name: r.Name, ID: r.ID}
		switch n := seen[r]; {
		case n < 0:
			continue
		case !s.broker().DeleteTopicEnable:
			result.Err = &Error{Kind: TopicDeletionDisabled}
		case r.Name == "" && r.ID.IsZero():
			result.Err = errorf(InvalidRequest, "Neither topic name nor id were specified.")
		case r.Name != "" && !r.ID.IsZero():
			result.Err = errorf(InvalidRequest, "You may not specify both topic name and topic id.")
		case n > 1 && r.ID.IsZero():
			seen[r] = -1
			result.Err = errorf(InvalidRequest, "Duplicate topic name.")
		case n > 1:
			seen[r] = -1
			result.Err = errorf(InvalidRequest, "Duplicate topic id.")
		default:
			result = s.deleteTopic(r, seen, deleted)
		}
		if result.Err == nil {
			deleted[result.ID] = true
			records = append(records, &metadata.RemoveTopic{ID: result.ID})
		}
		results = append(results, result)
	}
	return records, results
}

func (s state) deleteTopic(r TopicRef, seen map[TopicRef]int, deleted map[metadata.TopicID]bool) DeleteTopicResult {
	result := DeleteTopicResult{Name: r.Name, ID: r.ID}
	var t *metadata.Topic
	if r.Name != "" {
		if t = s.image.Topic(r.Name); t == nil {
			result.Err = &Error{Kind: UnknownTopicOrPartition}
			return result
		}
	} else if t = s.image.TopicByID(r.ID); t == nil {
		result.Err = &Error{Kind: UnknownTopicID}
		return result
	}
	result.Name, result.ID = t.Name, t.ID
	if _, byID := seen[TopicRef{ID: t.ID}]; deleted[t.ID] || r.Name != "" && byID {
		result.Err = errorf(InvalidRequest, "The provided topic name maps to an ID that was already supplied.")
	}
	return result
}
