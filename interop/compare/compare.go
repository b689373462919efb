// Package compare holds what tests need that compare weir with another broker: differences between two lists of lines, and the
// file of differences that are meant. It knows neither broker.
package compare

import (
	"bufio"
	"fmt"
	"os"
	"regexp"
)

// Diff returns the lines only in a as "-…" and those only in b as "+…", by longest common subsequence.
func Diff(a, b []string) []string {
	n, m := len(a), len(b)
	common := make([][]int, n+1)
	for i := range common {
		common[i] = make([]int, m+1)
	}
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	var out []string
	i, j := 0, 0
	for i < n || j < m {
		switch {
		case i < n && j < m && a[i] == b[j]:
			i, j = i+1, j+1
		case j == m || (i < n && common[i+1][j] >= common[i][j+1]):
			out = append(out, "-"+a[i])
			i++
		default:
			out = append(out, "+"+b[j])
			j++
		}
	}
	return out
}

// Expected is a file of differences that are meant. Every group of lines stands under a comment that says why; a line is
// "STEP LINE", both regular expressions that must match in full, STEP without spaces, LINE with its sign as Diff returns it.
type Expected struct {
	path string
	all  []*expectation
}

type expectation struct {
	step, line *regexp.Regexp
	text       string
	used       bool
}

// ReadExpected reads the file; a line without a reason above it is an error.
func ReadExpected(path string) (*Expected, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	e := &Expected{path: path}
	step, reason := regexp.MustCompile(`^(\S+) (.+)$`), false
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		line := lines.Text()
		switch {
		case line == "":
			reason = false
		case line[0] == '#':
			reason = true
		default:
			m := step.FindStringSubmatch(line)
			if !reason || m == nil {
				return nil, fmt.Errorf("%s: no reason above, or no step in, %q", path, line)
			}
			x := &expectation{text: line}
			if x.step, err = regexp.Compile("^(?:" + m[1] + ")$"); err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			if x.line, err = regexp.Compile("^(?:" + m[2] + ")$"); err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			e.all = append(e.all, x)
		}
	}
	return e, lines.Err()
}

// Unexpected returns the differences of a step that no line of the file covers, and notes the lines that covered others.
func (e *Expected) Unexpected(step string, diff []string) []string {
	var out []string
	for _, line := range diff {
		known := false
		for _, x := range e.all {
			if x.step.MatchString(step) && x.line.MatchString(line) {
				x.used, known = true, true
			}
		}
		if !known {
			out = append(out, line)
		}
	}
	return out
}

// Stale returns the lines of the file that covered nothing.
func (e *Expected) Stale() []string {
	var out []string
	for _, x := range e.all {
		if !x.used {
			out = append(out, e.path+": no longer occurs: "+x.text)
		}
	}
	return out
}
