package main

import (
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/wap-cli/wap/wap"
)

// duckdbSelect writes one SELECT over all files. Schemas may differ from
// partition to partition, so columns go by name; keys come as constants and
// never from the folders' names, whose types DuckDB would guess.
func duckdbSelect(w io.Writer, r *wap.FilesResult) error {
	groups := groupFiles(r)
	if len(groups) == 0 {
		_, err := fmt.Fprintln(w, emptySelect(r))
		return err
	}
	var parts []string
	for _, g := range groups {
		var b strings.Builder
		b.WriteString("SELECT *")
		for _, c := range g.constants {
			fmt.Fprintf(&b, ", %s AS %s", c.sql(), sqlName(c.name))
		}
		b.WriteString("\nFROM read_parquet([")
		for i, f := range g.files {
			if i > 0 {
				b.WriteString(",")
			}
			b.WriteString("\n  " + sqlText(duckdbPath(place(f))))
		}
		b.WriteString("\n], hive_partitioning = false, union_by_name = true)")
		parts = append(parts, b.String())
	}
	_, err := fmt.Fprintln(w, strings.Join(parts, "\nUNION ALL BY NAME\n"))
	return err
}

// createView names what an input's files hold.
func createView(name string, r *wap.FilesResult) (string, error) {
	var b strings.Builder
	err := duckdbSelect(&b, r)
	return "CREATE VIEW " + sqlName(name) + " AS\n" + strings.TrimSuffix(b.String(), "\n") + ";\n", err
}

// emptySelect has no rows, and the columns of the tables as far as they are
// known and flat.
func emptySelect(r *wap.FilesResult) string {
	var columns []string
	seen := map[string]bool{}
	add := func(name, arrow string) {
		if !seen[name] {
			seen[name] = true
			columns = append(columns, (constant{name: name, arrow: arrow, null: true}).sql()+" AS "+sqlName(name))
		}
	}
	for _, t := range r.Tables {
		for _, c := range t.Table.Columns {
			if len(c.Path) == 1 {
				add(c.Path[0], c.Logical)
			}
		}
		for _, k := range t.Table.Keys {
			add(k.Name, k.Type)
		}
	}
	if len(columns) == 0 {
		return "SELECT NULL AS nothing WHERE false"
	}
	return "SELECT " + strings.Join(columns, ", ") + "\nWHERE false"
}

func (c constant) sql() string {
	value := sqlText(c.value)
	if c.null {
		value = "NULL"
	}
	return fmt.Sprintf("CAST(%s AS %s)", value, engineType(c.arrow, duckdbTypes()))
}

func sqlText(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
func sqlName(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }

// duckdbPath keeps the characters of DuckDB's globs from being read as such.
func duckdbPath(path string) string {
	return strings.NewReplacer("*", "[*]", "?", "[?]", "[", "[[]").Replace(path)
}

var (
	decimalName   = regexp.MustCompile(`\Adecimal(?:128|256)?\(([0-9]+)(?:, ?([0-9]+))?\)\z`)
	timestampName = regexp.MustCompile(`\Atimestamp\[[a-z]+(, ?tz=.*)?\]\z`)
)

// engineType is an Arrow type in an engine's words; what has none is text.
func engineType(arrow string, types map[string]string) string {
	if t, ok := types[arrow]; ok {
		return t
	}
	if m := decimalName.FindStringSubmatch(arrow); m != nil {
		scale := m[2]
		if scale == "" {
			scale = "0"
		}
		return fmt.Sprintf("%s(%s,%s)", types["decimal"], m[1], scale)
	}
	if m := timestampName.FindStringSubmatch(arrow); m != nil {
		if m[1] != "" {
			return types["instant"]
		}
		return types["timestamp"]
	}
	return types["string"]
}

func duckdbTypes() map[string]string {
	return map[string]string{
		"bool": "BOOLEAN", "boolean": "BOOLEAN", "string": "VARCHAR", "utf8": "VARCHAR",
		"int8": "TINYINT", "int16": "SMALLINT", "int32": "INTEGER", "int64": "BIGINT",
		"uint8": "UTINYINT", "uint16": "USMALLINT", "uint32": "UINTEGER", "uint64": "UBIGINT",
		"float": "FLOAT", "float32": "FLOAT", "double": "DOUBLE", "float64": "DOUBLE",
		"date": "DATE", "date32": "DATE", "date32[day]": "DATE", "binary": "BLOB",
		"decimal": "DECIMAL", "timestamp": "TIMESTAMP", "instant": "TIMESTAMPTZ",
	}
}

// sparkTypes has no unsigned types: the next larger one holds their values.
func sparkTypes() map[string]string {
	return map[string]string{
		"bool": "boolean", "boolean": "boolean", "string": "string", "utf8": "string",
		"int8": "tinyint", "int16": "smallint", "int32": "int", "int64": "bigint",
		"uint8": "smallint", "uint16": "int", "uint32": "bigint", "uint64": "decimal(20,0)",
		"float": "float", "float32": "float", "double": "double", "float64": "double",
		"date": "date", "date32": "date", "date32[day]": "date", "binary": "binary",
		"decimal": "decimal", "timestamp": "timestamp_ntz", "instant": "timestamp",
	}
}
