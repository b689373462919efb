package commitlog

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/vfs"
)

// TestGoldenDirectory holds the bytes of a partition's directory. Indexes are spelled out; of the .log, whose bytes are
// the batches as they were appended, a digest is enough. WEIR_REWRITE=1 writes the file anew.
func TestGoldenDirectory(t *testing.T) {
	f := memFixture(t, smallConfig())
	for i := range 14 {
		end := f.log.LogEndOffset()
		f.append(build(end, 1+i%3, 180+10*i, 1_700_000_000_000+int64(i%5)*1000+int64(i)*100, batch.LeaderEpoch(i/6), batch.None))
	}
	if err := f.log.Close(true); err != nil {
		t.Fatal(err)
	}
	if err := WriteTopicID(f.fs, testDir, [16]byte{15: 7}); err != nil {
		t.Fatal(err)
	}
	names, err := f.fs.List(testDir)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, name := range names {
		raw, err := vfs.ReadFile(f.fs, testDir+"/"+name, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case strings.HasSuffix(name, extLog):
			fmt.Fprintf(&b, "%s: %d bytes, sha256 %x\n", name, len(raw), sha256.Sum256(raw))
		case strings.HasSuffix(name, extIndex), strings.HasSuffix(name, extTimeIndex):
			fmt.Fprintf(&b, "%s: %s\n", name, hex.EncodeToString(raw))
		default:
			fmt.Fprintf(&b, "%s: %q\n", name, raw)
		}
	}
	const golden = "testdata/directory.golden"
	if os.Getenv("WEIR_REWRITE") != "" {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("directory is\n%swant\n%s", b.String(), want)
	}
}
