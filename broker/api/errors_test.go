package api

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weir-broker/weir/broker/batch"
	"github.com/weir-broker/weir/broker/controller"
	"github.com/weir-broker/weir/broker/partition"
)

// exported returns the names a package's source declares for which keep holds, by declaration kind.
func exported(t *testing.T, dir string, kind token.Token, keep func(name string) bool) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no source in %s: %v", dir, err)
	}
	var names []string
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != kind {
				continue
			}
			for _, spec := range g.Specs {
				for _, n := range spec.(*ast.ValueSpec).Names {
					if keep(n.Name) {
						names = append(names, n.Name)
					}
				}
			}
		}
	}
	return names
}

// TestEveryErrorHasAKafkaCode reads the sentinels of the packages below from their source and looks
// for each in the map.
func TestEveryErrorHasAKafkaCode(t *testing.T) {
	mapped := map[string]bool{}
	for _, path := range []string{"errors.go"} {
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok {
				if pkg, ok := sel.X.(*ast.Ident); ok {
					mapped[pkg.Name+"."+sel.Sel.Name] = true
				}
			}
			return true
		})
	}
	for _, pkg := range []string{"batch", "partition", "coordinator", "group"} {
		for _, name := range exported(t, "../"+pkg, token.VAR, func(n string) bool { return strings.HasPrefix(n, "Err") }) {
			if !mapped[pkg+"."+name] {
				t.Errorf("%s.%s has no Kafka code", pkg, name)
			}
		}
	}
	for k := controller.UnknownServerError; !strings.HasPrefix(k.String(), "Kind("); k++ {
		code, ok := kindCodes[k]
		if !ok {
			t.Errorf("controller kind %v has no Kafka code", k)
		} else if code.String() != k.String() {
			t.Errorf("controller kind %v is mapped to %v", k, code)
		}
	}
}

func TestCodeOfSeesThroughWrapping(t *testing.T) {
	for _, tc := range []struct {
		err  error
		want Code
	}{
		{nil, CodeNone},
		{fmt.Errorf("a-0: %w", partition.ErrNotLeader), CodeNotLeaderOrFollower},
		{&batch.RecordErrors{Kind: batch.ErrInvalidTimestamp}, CodeInvalidTimestamp},
		{&controller.Error{Kind: controller.InvalidConfig}, CodeInvalidConfig},
		{(*controller.Error)(nil), CodeNone},
		{errors.New("what is this"), CodeUnknownServerError},
	} {
		if got := codeOf(tc.err); got != tc.want {
			t.Errorf("%v: %v, want %v", tc.err, got, tc.want)
		}
	}
}
