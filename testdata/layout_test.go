// Package testdata_test holds the project to its layout: which package may
// import which, and how long files and functions get.
package testdata_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	module           = "github.com/wap-cli/wap"
	maxFileLines     = 400
	maxFunctionLines = 60
)

type layer struct {
	path     string
	mayUse   []string
	isolated bool // reaches no SDK, no command line, and runs no processes
}

// layers names, from the bottom up, every package of the module and what it may
// import of the module besides what lies below itself. The first that covers a
// package counts.
var layers = []layer{
	{path: "manifest", isolated: true},
	{path: "audit", mayUse: []string{"manifest"}, isolated: true},
	{path: "wap/store", mayUse: nil},
	{path: "wap", mayUse: []string{"manifest", "audit"}},
	{path: "cmd/wap", mayUse: []string{"manifest", "audit", "wap"}},
}

type goPackage struct {
	ImportPath, Dir string
	Imports, Deps   []string
}

// goList returns every package of the module that "./..." covers.
func goList(t *testing.T) []goPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Dir,Imports,Deps", "./...")
	cmd.Dir = ".."
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	var pkgs []goPackage
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return pkgs
		} else if err != nil {
			t.Fatal(err)
		}
		pkgs = append(pkgs, p)
	}
}

// within reports whether the slash-separated path p is root or below it.
func within(p, root string) bool { return p == root || strings.HasPrefix(p, root+"/") }

func TestImportDirection(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range goList(t) {
		rel := strings.TrimPrefix(p.ImportPath, module+"/")
		i := slices.IndexFunc(layers, func(l layer) bool { return within(rel, l.path) })
		if i < 0 {
			t.Errorf("%s: not in the layout", rel)
			continue
		}
		seen[layers[i].path] = true
		for _, imp := range p.Imports {
			own, ok := strings.CutPrefix(imp, module+"/")
			if !ok || within(own, layers[i].path) {
				continue
			}
			if !slices.ContainsFunc(layers[i].mayUse, func(root string) bool { return within(own, root) }) {
				t.Errorf("%s imports %s: imports point from manifest to audit to wap to cmd/wap", rel, own)
			}
		}
		if layers[i].isolated {
			checkIsolated(t, p)
		}
	}
	for _, l := range layers {
		if !seen[l.path] {
			t.Errorf("%s: no such package", l.path)
		}
	}
}

// checkIsolated looks at everything reachable for SDKs and command lines, and at
// direct imports for what some libraries import for reasons of their own.
func checkIsolated(t *testing.T, p goPackage) {
	t.Helper()
	for _, dep := range p.Deps {
		for _, bad := range []string{"github.com/aws", "github.com/urfave", "github.com/testcontainers"} {
			if within(dep, bad) {
				t.Errorf("%s reaches %s", p.ImportPath, dep)
			}
		}
	}
	for _, imp := range p.Imports {
		if imp == "os/exec" || imp == "flag" || imp == "net/http" {
			t.Errorf("%s imports %s", p.ImportPath, imp)
		}
	}
}

func TestPackageNames(t *testing.T) {
	for _, p := range goList(t) {
		for _, part := range strings.Split(strings.TrimPrefix(p.ImportPath, module), "/") {
			switch part {
			case "util", "utils", "common", "types", "helper", "helpers", "pkg", "misc", "shared":
				t.Errorf("%s: a package is named for what it provides", p.ImportPath)
			}
		}
	}
}

// source is one parsed Go file.
type source struct {
	name string // relative to the repository
	fset *token.FileSet
	file *ast.File
}

// sources returns the repository's Go files, tests excepted.
func sources(t *testing.T) []source {
	t.Helper()
	var all []source
	err := filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if base := d.Name(); base != ".." && strings.HasPrefix(base, ".") || base == "bin" {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		all = append(all, source{name: path.Clean(filepath.ToSlash(strings.TrimPrefix(name, "../"))), fset: fset, file: file})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 10 {
		t.Fatalf("found %d Go files: this test looks in the wrong place", len(all))
	}
	return all
}

func TestSizes(t *testing.T) {
	for _, s := range sources(t) {
		if n := s.fset.File(s.file.Pos()).LineCount(); n >= maxFileLines {
			t.Errorf("%s: %d lines, want fewer than %d: split it by noun", s.name, n, maxFileLines)
		}
		for _, d := range s.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			from, to := s.fset.Position(f.Pos()), s.fset.Position(f.End())
			if n := to.Line - from.Line + 1; n >= maxFunctionLines {
				t.Errorf("%s:%d: function %s: %d lines, want fewer than %d", s.name, from.Line, f.Name.Name, n, maxFunctionLines)
			}
		}
	}
}

func TestNoInit(t *testing.T) {
	for _, s := range sources(t) {
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
				t.Errorf("%s:%d: func init", s.name, s.fset.Position(f.Pos()).Line)
			}
		}
	}
}

// TestNoMutablePackageVariables refuses package variables without a value: only
// an assignment elsewhere could make them useful. What the linker or go:embed
// sets is excepted.
func TestNoMutablePackageVariables(t *testing.T) {
	for _, s := range sources(t) {
		for _, d := range s.file.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.VAR || embedded(g.Doc) {
				continue
			}
			for _, spec := range g.Specs {
				v := spec.(*ast.ValueSpec)
				linked := within(s.name, "cmd/wap") && v.Names[0].Name == "version"
				if len(v.Values) == 0 && !embedded(v.Doc) && !linked {
					t.Errorf("%s:%d: mutable package variable %s", s.name, s.fset.Position(v.Pos()).Line, v.Names[0].Name)
				}
			}
		}
	}
}

func embedded(doc *ast.CommentGroup) bool {
	if doc == nil {
		return false
	}
	return slices.ContainsFunc(doc.List, func(c *ast.Comment) bool { return strings.HasPrefix(c.Text, "//go:embed ") })
}
