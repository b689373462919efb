package group

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/weir-broker/weir/broker/coordinator"
)

var noProducer = coordinator.NoProducer()

func TestRecordsOfOldBrokersLoad(t *testing.T) {
	for version := int16(0); version <= 4; version++ {
		s := New(testOptions())
		v := &GroupMetadataValue{
			Version: version, ProtocolType: "consumer", GenerationID: 3, Protocol: ptr("range"), Leader: ptr("gone"), CurrentStateTimestamp: -1,
			Members: []GroupMetadataMember{{MemberID: "m", SessionTimeout: 7000, RebalanceTimeout: -1, Assignment: []byte("x")}},
		}
		key := Key{Type: GroupMetadataType, Group: "g"}.AppendTo(nil)
		if err := s.Replay(0, noProducer, Record{Key: key, Value: v.AppendTo(nil)}); err != nil {
			t.Fatal(err)
		}
		s.Loaded(time.Now())
		g := s.groups["g"]
		if g.state != stable || g.generation != 3 || g.leader != "m" || g.members[0].rebalanceTimeout != 7*time.Second || string(g.members[0].assignment) != "x" {
			t.Errorf("version %d loads as %+v", version, g)
		}
	}
	s := New(testOptions())
	legacy := Key{Type: LegacyOffsetCommitType, Group: "g", Topic: "t", Partition: 1}
	if err := s.Replay(0, noProducer, Record{Key: legacy.AppendTo(nil), Value: (&OffsetCommitValue{Offset: 5}).AppendTo(nil)}); err != nil {
		t.Fatal(err)
	}
	if o, ok := s.offsets.get(offsetID{"g", "t", 1}); !ok || o.offset != 5 || o.leaderEpoch != -1 || o.expireTimestamp != -1 {
		t.Errorf("legacy offset loads as %+v, %v", o, ok)
	}
}

func TestReplayTellsWhatItCannotUse(t *testing.T) {
	s := New(testOptions())
	good := Key{Type: OffsetCommitType, Group: "g", Topic: "t"}.AppendTo(nil)
	for _, c := range []struct {
		key, value []byte
		want       error
	}{
		{appendString(appendInt16(nil, 11), "share", false), []byte{0, 0}, coordinator.ErrUnknownType},
		{good, []byte{0, 5}, coordinator.ErrUnknownVersion},
		{good, []byte{0, 4, 1}, ErrMalformed},
		{[]byte{0}, nil, ErrMalformed},
	} {
		if err := s.Replay(0, noProducer, Record{Key: c.key, Value: c.value}); !errors.Is(err, c.want) {
			t.Errorf("key %x value %x: %v, want %v", c.key, c.value, err, c.want)
		}
	}
}

func TestExpiryOfManyOffsetsTakesTurns(t *testing.T) {
	s := New(testOptions())
	at := time.UnixMilli(1_700_000_000_000)
	const offsets = 2*expiryRecordsPerTurn + 10
	for i := range offsets {
		k := Key{Type: OffsetCommitType, Group: "g", Topic: fmt.Sprint("t", i%7), Partition: int32(i)}
		v := &OffsetCommitValue{Version: 4, CommitTimestamp: at.UnixMilli(), ExpireTimestamp: -1}
		if err := s.Replay(coordinator.Offset(i), noProducer, Record{Key: k.AppendTo(nil), Value: v.AppendTo(nil)}); err != nil {
			t.Fatal(err)
		}
	}
	s.Loaded(at)
	at = at.Add(8 * 24 * time.Hour)
	turns, records := 0, 0
	for again := true; again; turns++ {
		e := s.Expire(at, TimerKey{Kind: OffsetsExpiryTimer})
		if len(e.Records) > expiryRecordsPerTurn+1 || !e.Divisible {
			t.Fatalf("a turn of %d records, divisible %v", len(e.Records), e.Divisible)
		}
		for _, r := range e.Records {
			if err := s.Replay(0, noProducer, r); err != nil {
				t.Fatal(err)
			}
		}
		records += len(e.Records)
		again = e.Timers[len(e.Timers)-1].After == 0
	}
	if turns != 3 || records != offsets+1 || len(s.groups) != 0 {
		t.Errorf("%d records in %d turns, %d groups left", records, turns, len(s.groups))
	}
}

// TestRequestsAreNotKept holds the Shard to copying what it keeps of a request's byte slices: the frame they alias is
// used again.
func TestRequestsAreNotKept(t *testing.T) {
	s := New(testOptions())
	now := time.UnixMilli(1_700_000_000_000)
	s.Loaded(now)
	metadata := []byte("metadata")
	e := s.JoinGroup(now, Client{ID: "c", UUID: "1"}, 1, &kmsg.JoinGroupRequest{
		Version: 3, Group: "g", SessionTimeoutMillis: 10000, ProtocolType: "connect", Protocols: []kmsg.JoinGroupRequestProtocol{{Name: "p", Metadata: metadata}},
	})
	replay(t, s, e)
	clear(metadata)
	e = s.Expire(now, TimerKey{Kind: JoinTimer, Group: "g"})
	if got := e.Replies[0].Response.(*kmsg.JoinGroupResponse).Members[0].ProtocolMetadata; string(got) != "metadata" {
		t.Errorf("metadata became %q", got)
	}
	assignment := []byte("assignment")
	e = s.SyncGroup(now, 2, &kmsg.SyncGroupRequest{
		Version: 3, Group: "g", MemberID: "c-1", Generation: 1, GroupAssignment: []kmsg.SyncGroupRequestGroupAssignment{{MemberID: "c-1", MemberAssignment: assignment}},
	})
	replay(t, s, e)
	clear(assignment)
	if got := e.Replies[0].Response.(*kmsg.SyncGroupResponse).MemberAssignment; string(got) != "assignment" {
		t.Errorf("the answer became %q", got)
	}
	e = s.SyncGroup(now, 3, &kmsg.SyncGroupRequest{Version: 3, Group: "g", MemberID: "c-1", Generation: 1})
	if got := e.Replies[0].Response.(*kmsg.SyncGroupResponse).MemberAssignment; string(got) != "assignment" {
		t.Errorf("assignment became %q", got)
	}
}

func replay(t *testing.T, s *Shard, e Effects) {
	t.Helper()
	for _, r := range e.Records {
		if err := s.Replay(0, noProducer, r); err != nil {
			t.Fatal(err)
		}
	}
}
