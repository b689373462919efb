package cli

import (
	"fmt"
	"strings"
	"testing"

	"github.com/weir-broker/weir/broker/group"
)

func TestLogDumpDecodesGroups(t *testing.T) {
	key := group.Key{Type: group.OffsetCommitType, Group: "g", Topic: "t", Partition: 3}
	fields, err := groupFields(key.AppendTo(nil), (&group.OffsetCommitValue{Version: 3, Offset: 7, LeaderEpoch: 2, Metadata: "m", CommitTimestamp: 5}).AppendTo(nil))
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(fields[0].value); got != `{"type":1,"group":"g","topic":"t","partition":3}` {
		t.Error(got)
	}
	if got := fmt.Sprint(fields[1].value); !strings.HasPrefix(got, `{"version":3,"offset":7,"leaderEpoch":2,"metadata":"m","commitTimestamp":5,`) {
		t.Error(got)
	}
	instance := "i"
	v := &group.GroupMetadataValue{Version: 3, ProtocolType: "consumer", Members: []group.GroupMetadataMember{{MemberID: "m", GroupInstanceID: &instance, Assignment: []byte{1, 2}}}}
	fields, err = groupFields(group.Key{Type: group.GroupMetadataType, Group: "g"}.AppendTo(nil), v.AppendTo(nil))
	if got := fmt.Sprint(fields[1].value); err != nil || !strings.Contains(got, `"groupInstanceID":"i"`) || !strings.Contains(got, `"protocol":null`) || !strings.Contains(got, `"assignment":"AQI="`) {
		t.Error(got, err)
	}
	if fields, err := groupFields(key.AppendTo(nil), nil); err != nil || fields[1].value != nil {
		t.Error("a tombstone", fields, err)
	}
	if fields, err := groupFields([]byte{0, 99, 'x'}, []byte("v")); err != nil || fields[1].value != "v" {
		t.Error("an unknown type", fields, err)
	}
	if _, err := groupFields(key.AppendTo(nil)[:5], nil); err == nil {
		t.Error("a key that ends early is not reported")
	}
}
