package compare

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestDiffNamesBothSides(t *testing.T) {
	got := Diff([]string{"a", "b", "c"}, []string{"a", "x", "c", "d"})
	if want := []string{"-b", "+x", "+d"}; !slices.Equal(got, want) {
		t.Fatalf("%v, want %v", got, want)
	}
}

func TestExpectedNeedsAReasonAndReportsStaleLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "expected.txt")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("# why\n\nstep -x\n")
	if _, err := ReadExpected(path); err == nil {
		t.Fatal("a line without a reason was read")
	}
	write("# why\nstep-. -x.*\nother \\+y\n")
	e, err := ReadExpected(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := e.Unexpected("step-1", []string{"-x1", "+x1"}); !slices.Equal(got, []string{"+x1"}) {
		t.Fatal(got)
	}
	if got := e.Stale(); len(got) != 1 {
		t.Fatal(got)
	}
}
