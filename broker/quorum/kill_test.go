package quorum

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"
)

// proposeForEver runs in a child process: it proposes topics, numbered on from
// those in the image, and prints each number once it is acknowledged.
func proposeForEver(dir string) {
	fail := func(err error) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	q, err := Open(Options{Dir: dir, NodeID: 1, Logger: quiet()})
	if err != nil {
		fail(err)
	}
	term, err := startTerm(q)
	if err != nil {
		fail(err)
	}
	for n := q.Image().TopicCount(); ; n++ {
		if _, err := q.Propose(context.Background(), term, oneTopic(n)); err != nil {
			fail(err)
		}
		fmt.Println(n)
	}
}

// TestAcknowledgedProposalsSurviveKill kills a proposing process with SIGKILL at
// random moments, over and over in one directory, and looks for every proposal
// that was acknowledged.
func TestAcknowledgedProposalsSurviveKill(t *testing.T) {
	rounds := 12
	if text := os.Getenv("WEIR_KILL_ROUNDS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		rounds = n
	}
	dir := t.TempDir()
	acked := -1
	for round := range rounds {
		child := exec.Command(os.Args[0], "-test.run=^$")
		child.Env = append(os.Environ(), "WEIR_QUORUM_CHILD="+dir)
		child.Stderr = os.Stderr
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		kill := time.AfterFunc(time.Duration(30+rand.IntN(250))*time.Millisecond, func() { _ = child.Process.Kill() })
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if n, err := strconv.Atoi(lines.Text()); err == nil {
				acked = n
			}
		}
		kill.Stop()
		if err := child.Wait(); err == nil || child.ProcessState.ExitCode() == 1 {
			t.Fatalf("round %d: child ended by itself: %v", round, err)
		}
		checkAcknowledged(t, dir, acked)
	}
	if acked < 0 {
		t.Fatal("no proposal was ever acknowledged")
	}
	t.Logf("%d proposals acknowledged over %d kills", acked+1, rounds)
}

func checkAcknowledged(t *testing.T, dir string, acked int) {
	t.Helper()
	q, err := Open(Options{Dir: dir, NodeID: 1, Logger: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := startTerm(q); err != nil {
		t.Fatal(err)
	}
	img := q.Image()
	for n := 0; n <= acked; n++ {
		if img.Topic(topic(n).Name) == nil {
			t.Fatalf("topic %d of %d acknowledged is gone", n, acked)
		}
	}
	if err := q.Close(); err != nil {
		t.Fatal(err)
	}
}
