// Package group is the state machine of consumer groups and their offsets, one Shard per partition of
// __consumer_offsets.
//
// It owns the records of that topic (records.go, byte for byte Kafka's), the classic protocol (JoinGroup, SyncGroup,
// Heartbeat, LeaveGroup: classic_*.go), committed offsets (offsets*.go), and what operators ask and do about groups
// (list, describe, delete), and the consumer protocol (KIP-848: consumer_*.go; target.go has what a target assignment takes,
// reconcile.go a member's steps towards it). It does not own a thread, a clock, timers or the log: a Shard is a coordinator.Machine, run on
// one goroutine there, which gives it requests and times, appends the records it answers with and holds replies until the high
// watermark has passed them. Random parts of member ids come in with the request.
//
// # Hard and soft state
//
//	hard   what the log says: which groups exist, their committed generation, members and assignments; offsets.
//	       Changed by Replay alone, on the live path and on loading alike.
//	soft   a rebalance in progress: who has joined and waits, who has still to sync, pending member ids, deadlines.
//	       Never written. Changed by the operation itself, at once.
//
// An operation therefore never changes hard state; it returns records, and coordinator replays them right after it put
// them into its append and before it runs the next operation. Soft state needs no undo: when an append fails or
// leadership moves, coordinator drops the whole Shard, answers every waiting request with an error and loads a new Shard
// from the log. What is lost is a rebalance that nobody was told the end of; members join again. What a reply has told
// a client is always either soft by nature (REBALANCE_IN_PROGRESS) or in a record below the high watermark.
//
// A classic group's members change as it rebalances, long before there is a record, so one object holds both kinds. While
// loading, Replay makes it from the newest record. Live, the record was made from it, and Replay adds the one fact that is
// new: the leader's assignment is in the log, the group is Stable. A group that was made by a JoinGroup is soft until the
// record that the same operation appends is replayed.
//
// A JoinGroup that waits for the others, or a SyncGroup that waits for its leader, leaves its token in the soft state
// and is answered among the replies of a later operation.
//
// # Classic group
//
//	         first join                     all joined, or timeout
//	Empty ----------------> PreparingRebalance -----------------> CompletingRebalance
//	  ^                       |      ^     ^                        |       |
//	  +-----------------------+      |     +------------------------+       | leader's SyncGroup is replayed
//	    timeout, nobody left         |       join, leave, expiry            v
//	                                 +------------------------------------ Stable
//	                                         join, leave, expiry
//
// Dead is not a state of an object here: a group that is deleted is gone, and a Shard that is dropped answers nothing.
//
// # Consumer group
//
// Everything about a consumer group is hard state but for timers, heartbeats that wait for a target and what is being
// computed. A heartbeat's operation only returns records; what has to follow them (a target, the answer to those who wait
// for one) is an operation of its own, brought about by a timer that goes off at once. Three epochs follow each other:
//
//	group    goes up when members, subscriptions or topics change
//	target   the group epoch that the target assignment was computed for
//	member   the target epoch that a member has reached
//
//	Empty --- a member joins ---> Assigning --- target computed ---> Reconciling --- all members there ---> Stable
//
// The state is not kept anywhere: it follows from these.
package group
