// Package release_test holds what the Debian package promises to the machine it is installed on. It runs the package's scripts as dpkg
// would, with another root and with stand-ins for the commands they call.
package release_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// machine is a root directory with stand-ins for commands, which write down how they were called.
type machine struct {
	t         *testing.T
	root, bin string
	calls     string
}

func newMachine(t *testing.T, systemd bool) *machine {
	m := &machine{t: t, root: t.TempDir(), bin: t.TempDir()}
	m.calls = filepath.Join(m.bin, "calls")
	dirs := []string{m.root}
	if systemd {
		dirs = append(dirs, filepath.Join(m.root, "run/systemd/system"))
	}
	for _, dir := range dirs {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"systemctl", "useradd", "userdel", "chown", "getent", "rm"} {
		script := "#!/bin/sh\necho " + name + " \"$@\" >>" + m.calls + "\n"
		if name == "getent" {
			script += "exit 2\n"
		}
		if err := os.WriteFile(filepath.Join(m.bin, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

// run executes one of the package's scripts and returns what it called and what it printed.
func (m *machine) run(script string, args ...string) (calls []string, printed string) {
	m.t.Helper()
	_ = os.Remove(m.calls)
	cmd := exec.Command("./"+script, args...)
	cmd.Env = []string{"PATH=" + m.bin + ":/usr/bin:/bin", "DPKG_ROOT=" + m.root}
	out, err := cmd.CombinedOutput()
	if err != nil {
		m.t.Fatalf("%s %v: %v\n%s", script, args, err, out)
	}
	content, err := os.ReadFile(m.calls)
	if err != nil && !os.IsNotExist(err) {
		m.t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(content)), "\n"), string(out)
}

func TestRemovedPackageStopsTheBrokerAndKeepsItsRecords(t *testing.T) {
	m := newMachine(t, true)
	m.run("postinstall", "configure", "")
	segment := filepath.Join(m.root, "var/lib/weir/data/orders-0/00000000000000000000.log")
	if err := os.MkdirAll(filepath.Dir(segment), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(segment, []byte("records"), 0o600); err != nil {
		t.Fatal(err)
	}
	if calls, _ := m.run("preremove", "remove"); !slices.Equal(calls, []string{"systemctl stop weir.service", "systemctl --no-reload disable weir.service"}) {
		t.Errorf("preremove remove: %q", calls)
	}
	if calls, out := m.run("postremove", "remove"); !slices.Equal(calls, []string{"systemctl daemon-reload"}) || out != "" {
		t.Errorf("postremove remove: %q, %q", calls, out)
	}
	calls, out := m.run("postremove", "purge")
	if !slices.Equal(calls, []string{"systemctl daemon-reload"}) || !strings.Contains(out, "records stay in /var/lib/weir") {
		t.Errorf("postremove purge: %q, %q", calls, out)
	}
	if content, err := os.ReadFile(segment); err != nil || string(content) != "records" {
		t.Errorf("after the purge: %q, %v", content, err)
	}
}

func TestUpgradedPackageLeavesARunningBrokerAlone(t *testing.T) {
	m := newMachine(t, true)
	if calls, _ := m.run("preremove", "upgrade", "0.2"); !slices.Equal(calls, []string{""}) {
		t.Errorf("preremove upgrade: %q", calls)
	}
	if calls, _ := m.run("postremove", "upgrade", "0.2"); !slices.Equal(calls, []string{""}) {
		t.Errorf("postremove upgrade: %q", calls)
	}
	calls, out := m.run("postinstall", "configure", "0.1")
	for _, call := range calls {
		if strings.HasPrefix(call, "systemctl") && call != "systemctl daemon-reload" && call != "systemctl --quiet is-active weir.service" {
			t.Errorf("postinstall of an upgrade calls %q", call)
		}
	}
	if !strings.Contains(out, "still 0.1; 'systemctl restart weir'") {
		t.Errorf("postinstall of an upgrade prints %q", out)
	}
}

func TestPackageNeedsNoRunningSystemd(t *testing.T) {
	m := newMachine(t, false)
	for _, step := range [][]string{
		{"postinstall", "configure", ""},
		{"preremove", "remove"},
		{"postremove", "remove"},
		{"postremove", "purge"},
	} {
		calls, _ := m.run(step[0], step[1:]...)
		for _, call := range calls {
			if strings.HasPrefix(call, "systemctl") && call != "systemctl --no-reload disable weir.service" { // that one works on files alone
				t.Errorf("%v without systemd calls %q", step, call)
			}
		}
	}
	names, err := os.ReadFile("nfpm.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"postinstall: release/postinstall", "preremove: release/preremove", "postremove: release/postremove"} {
		if !strings.Contains(string(names), "  "+line+"\n") {
			t.Errorf("nfpm.yaml lacks %q", line)
		}
	}
}
