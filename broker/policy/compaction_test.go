package policy

import (
	"context"
	"testing"
)

func TestStandardCompactionKeepsTheNewestOfEachKey(t *testing.T) {
	rows := []CompactionRow{
		{Offset: 1, Keyed: true, ValueLength: 3},
		{Offset: 2, Keyed: true, ValueLength: 3, Newer: 1},
		{Offset: 3, ValueLength: 3},
		{Offset: 4, Keyed: true, ValueLength: -1},
		{Offset: 5, Keyed: true, ValueLength: -1, Newer: 1},
		{Offset: 6, ValueLength: -1},
	}
	want := []bool{true, false, false, true, false, false}
	verdicts := make([]CompactionVerdict, len(rows))
	for i := range verdicts {
		verdicts[i].Action = CompactionKeepUntil // left over from an earlier call
	}
	if err := StandardCompaction().Decide(context.Background(), CompactionFacts{}, rows, verdicts); err != nil {
		t.Fatal(err)
	}
	for i, v := range verdicts {
		if v.Keeps(0) != want[i] {
			t.Errorf("offset %d: kept %v", rows[i].Offset, v.Keeps(0))
		}
	}
}

func TestKeepUntilEndsAtItsTime(t *testing.T) {
	v := CompactionVerdict{Action: CompactionKeepUntil, Until: 100}
	if !v.Keeps(99) || v.Keeps(100) {
		t.Errorf("kept at 99: %v, at 100: %v", v.Keeps(99), v.Keeps(100))
	}
}
