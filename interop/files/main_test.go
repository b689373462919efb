//go:build interop

package files_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/weir-broker/weir/interop/oracle"
)

var (
	kafka *oracle.Oracle
	// scale multiplies rounds: 1 is what CI runs.
	scale = envInt("WEIR_FILES_SCALE", 1)
	seed  = uint64(envInt("WEIR_FILES_SEED", int(time.Now().UnixNano())))
)

func envInt(name string, otherwise int) int {
	n, err := strconv.Atoi(os.Getenv(name))
	if err != nil {
		return otherwise
	}
	return n
}

// source is the randomness of one test, told apart by stream.
func source(t *testing.T, stream uint64) *rand.Rand {
	t.Helper()
	t.Logf("seed %d, scale %d", seed, scale)
	return rand.New(rand.NewPCG(seed, stream))
}

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "weir-files")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	kafka, err = oracle.Start(oracle.Options{Dir: dir})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	if err := kafka.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}
