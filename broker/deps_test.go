// Package broker_test holds the rules of the whole tree: which package may import which, that every package says
// what it owns, and which calls stay out of pure packages. It runs with the ordinary tests, so that a change of the
// structure is a change of this file and is read as such.
package broker_test

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/weir-broker/weir"

// allowed lists, for each package below broker/, the packages of this module its non-test files may import.
// Imports go down only. Think before adding a line: a new arrow is a new coupling.
var allowed = map[string][]string{
	"cmd/weir":      {"cli"},
	"cli":           {"node", "coordinator", "group", "api", "adminhttp", "controller", "partition", "commitlog", "producerstate", "quorum", "metadata", "network", "config", "batch", "vfs", "policy"},
	"node":          {"coordinator", "group", "api", "adminhttp", "controller", "partition", "commitlog", "producerstate", "quorum", "metadata", "network", "config", "batch", "vfs", "policy"},
	"api":           {"network", "partition", "coordinator", "group", "controller", "metadata", "config", "batch"},
	"adminhttp":     {"partition", "metadata", "config"},
	"controller":    {"metadata", "config"},
	"coordinator":   {"batch"},
	"group":         {"coordinator", "metadata", "config", "policy"},
	"partition":     {"commitlog", "producerstate", "metadata", "config", "batch", "policy", "vfs"},
	"commitlog":     {"batch", "vfs", "policy"},
	"producerstate": {"batch", "vfs", "policy"},
	"quorum":        {"metadata"},
	"network":       {},
	"batch":         {},
	"vfs":           {},
	"metadata":      {},
	"config":        {},
	"policy":        {},
}

// onlyUser names third-party modules that exactly the listed packages may import in non-test files.
var onlyUser = map[string][]string{
	"github.com/twmb/franz-go/pkg/kmsg": {"api", "cli", "group"},
	"github.com/twmb/franz-go/pkg/kgo":  {"cli"},
	"github.com/twmb/franz-go/pkg/kadm": {"cli"},
	"github.com/hashicorp/raft":         {"quorum"},
	"go.etcd.io/bbolt":                  {"quorum", "commitlog"},
	"github.com/spf13/cobra":            {"cli"},
}

// pure packages hold state machines and arithmetic: no clock, no randomness of their own, no goroutine, no files.
var pure = []string{"metadata", "policy", "batch", "group"}

type listed struct {
	ImportPath string
	Dir        string
	Imports    []string
	GoFiles    []string
	Doc        string
}

func packages(t *testing.T) []listed {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Dir,Imports,GoFiles,Doc", "./...")
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("go list: %v\n%s", err, exit.Stderr)
		}
		t.Fatalf("go list: %v", err)
	}
	var all []listed
	dec := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		if len(p.GoFiles) > 0 {
			all = append(all, p)
		}
	}
}

func TestImportsGoDownOnly(t *testing.T) {
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, module+"/broker/")
		may, known := allowed[name]
		if !known {
			t.Errorf("package %s is not in the import list: a new package needs a noun of its own and a line here", name)
			continue
		}
		for _, imp := range p.Imports {
			if in, ok := strings.CutPrefix(imp, module+"/broker/"); ok && !slices.Contains(may, in) {
				t.Errorf("%s imports %s, which the import list does not allow", name, in)
			}
			for third, users := range onlyUser {
				if (imp == third || strings.HasPrefix(imp, third+"/") || strings.HasPrefix(imp, third+"-")) && !slices.Contains(users, name) {
					t.Errorf("%s imports %s, which only %v may", name, imp, users)
				}
			}
		}
	}
}

func TestEveryPackageSaysWhatItOwns(t *testing.T) {
	for _, p := range packages(t) {
		if len(strings.Fields(p.Doc)) < 4 {
			t.Errorf("%s has no package comment", p.ImportPath)
		}
	}
}

func TestNoInitFunctionsAndPurePackagesStayPure(t *testing.T) {
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, nil, 0)
		if err != nil {
			return err
		}
		inPure := slices.Contains(pure, filepath.ToSlash(filepath.Dir(path)))
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Recv == nil && n.Name.Name == "init" {
					t.Errorf("%s: func init", fset.Position(n.Pos()))
				}
			case *ast.GoStmt:
				if inPure {
					t.Errorf("%s: go statement in a pure package", fset.Position(n.Pos()))
				}
			case *ast.SelectorExpr:
				if id, ok := n.X.(*ast.Ident); ok && inPure && id.Obj == nil && id.Name == "time" && (n.Sel.Name == "Now" || n.Sel.Name == "Sleep") {
					t.Errorf("%s: time.%s in a pure package", fset.Position(n.Pos()), n.Sel.Name)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// bannedNames are words that say nothing about what a type is.
var bannedNames = []string{"Manager", "Helper", "Util", "Impl", "Info", "Service", "Data"}

func TestTypesAreNamedByTheirNoun(t *testing.T) {
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok {
				for _, banned := range bannedNames {
					if strings.HasSuffix(spec.Name.Name, banned) {
						t.Errorf("%s: type %s: name the thing, not its role (%s)", fset.Position(spec.Pos()), spec.Name.Name, banned)
					}
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
