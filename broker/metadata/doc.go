// Package metadata holds what the cluster agrees on: topics, partitions,
// brokers, configurations and feature levels.
//
// It owns the immutable Image, the Records that change it, their binary form,
// and the pure function Apply. It does not decide anything (controller does),
// does not replicate or store anything (quorum does), and knows no clock,
// goroutine, lock or file.
//
//	controller: (Image, request) -> []Record
//	quorum:     Entry{Term, []Record} --replicated--> Apply(Image, Entry) -> Image'
//	node:       Image' -> partition, api, ...
//
// An Image never changes once it is published, so any number of goroutines may
// read it without a lock. A new Image shares everything that an Entry did not
// touch with the one before it: changing one partition of a topic with ten
// thousand copies one chunk of 64 pointers, not the topic. ChangedTopics walks
// two images and skips what they share.
package metadata
