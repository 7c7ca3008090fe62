package main

// caseFile is one file with the query whose rows it holds.
type caseFile struct {
	name, query string
	options     []string // of COPY, beside its format
}

const (
	v2     = "PARQUET_VERSION v2" // delta and byte-stream-split encodings
	groups = "ROW_GROUP_SIZE 2048"
)

// files lists what is written, each with the case it stands for.
func files() []caseFile {
	var all []caseFile
	for _, list := range [][]caseFile{statistics(), shapes(), sets(), layouts()} {
		all = append(all, list...)
	}
	return all
}

// statistics are files whose footers tell less than the truth, or nothing.
func statistics() []caseFile {
	return []caseFile{
		// A NaN that minimum and maximum do not show: 3, NaN, 3.
		{"nan.parquet", "SELECT x::DOUBLE AS x, x::FLOAT AS f FROM (VALUES (3.0::DOUBLE), ('nan'), (3)) t(x)", nil},
		// 2 of 3 are NULL.
		{"nulls.parquet", "SELECT * FROM (VALUES (NULL::BIGINT, NULL::VARCHAR), (1, 'a'), (NULL, NULL)) t(x, s)", nil},
		// Row groups without a NULL, with some, and of nothing else: 4098 NULLs of
		// 7000. In v, the same as a type that has no statistics.
		{"nulls-mixed.parquet", `SELECT CASE WHEN i < 2048 OR i BETWEEN 2050 AND 2901 THEN i WHEN i < 4096 THEN NULL WHEN i < 7000 AND i >= 6998 THEN i END::BIGINT AS x,
  CASE WHEN x IS NOT NULL THEN to_days(x::INT) END AS v FROM range(7000) r(i)`, []string{groups}},
		// Wide decimals, stored as 16 bytes: minimum -10, maximum 5.
		{"decimals.parquet", "SELECT x::DECIMAL(38, 0) AS x, x::DECIMAL(18, 2) AS y, x::DECIMAL(4, 1) AS z FROM (VALUES (-1), (0), (5), (-10)) t(x)", nil},
		// Texts that share 64 bytes, and one that is too long for a footer.
		{"prefixes.parquet", "SELECT repeat('p', 64) || x AS x FROM (VALUES ('a'), ('z'), (''), (repeat('q', 5000))) t(x)", nil},
		// Both zeros, and NaNs with different bits.
		{"zeros.parquet", "SELECT x::DOUBLE AS x FROM (VALUES (0.0::DOUBLE), ('-0.0'), ('nan'), ('-nan')) t(x)", nil},
		{"infinities.parquet", "SELECT x::DOUBLE AS x, x::FLOAT AS f FROM (VALUES ('inf'), ('-inf'), ('1.5'), (NULL)) t(x)", nil},
		// 3 of 1,864,458, and 7 of 100.
		{"three-of-many.parquet", "SELECT CASE WHEN i IN (5, 1000000, 1864457) THEN NULL ELSE 1 END::TINYINT AS x FROM range(1864458) r(i)",
			[]string{"COMPRESSION zstd", "ROW_GROUP_SIZE 1000000"}},
		{"seven-of-100.parquet", "SELECT CASE WHEN i >= 7 THEN i END::INT AS x FROM range(100) r(i)", nil},
	}
}

// shapes are nested, empty, and limited values.
func shapes() []caseFile {
	return []caseFile{
		// [0, 1], NULL, [], [2, NULL, 3]
		{"lists.parquet", "SELECT x::BIGINT[] AS x FROM (VALUES ([0, 1]), (NULL), ([]), ([2, NULL, 3])) t(x)", nil},
		// A struct that is NULL, one whose field is, and one that is whole.
		{"structs.parquet", "SELECT x::STRUCT(a BIGINT) AS s FROM (VALUES (NULL), ({'a': NULL}), ({'a': 7})) t(x)", nil},
		{"maps.parquet", "SELECT x::MAP(VARCHAR, INT) AS m FROM (VALUES (MAP {'a': 1, 'b': NULL}), (NULL), (MAP {})) t(x)", nil},
		// Lists of lists, of structs, and of texts.
		{"nested.parquet", `SELECT a::INT[][] AS a, b::STRUCT(sku VARCHAR, tags VARCHAR[])[] AS b FROM (VALUES
  ([[1], [], NULL, [NULL, 2]], [{'sku': 'x', 'tags': ['t', NULL]}, NULL]), (NULL, []), ([], NULL), ([[3, 4]], [{'sku': NULL, 'tags': NULL}])) t(a, b)`, nil},
		{"empty.parquet", "SELECT 1::BIGINT AS x WHERE false", nil},
		{"all-null.parquet", "SELECT NULL::BIGINT AS x, NULL::VARCHAR AS s, NULL::DOUBLE AS d FROM range(3)", nil},
		// A comparison with NULL on either side, or both.
		{"comparison.parquet", "SELECT * FROM (VALUES (1, 2), (2, 1), (NULL, 1), (1, NULL), (NULL, NULL)) t(a, b)", nil},
		// Sums that leave their types: 2^63, 2^64, and 38 digits twice.
		{"sums.parquet", `SELECT * FROM (VALUES
  (9223372036854775807::BIGINT, 18446744073709551615::UBIGINT, 99999999999999999999999999999999999999::DECIMAL(38, 0), 0.1::DOUBLE),
  (1, 1, 99999999999999999999999999999999999999, 0.2)) t(i, u, d, f)`, nil},
		// The 17th digit of a control total.
		{"total.parquet", "SELECT x::DECIMAL(18, 2) AS x FROM (VALUES (123456789012345.67), (0.01), (999999999999999.99)) t(x)", nil},
		// Limits of every integer, time and text type.
		{"limits.parquet", `SELECT * FROM (VALUES
  ((-128)::TINYINT, 0::UTINYINT, (-32768)::SMALLINT, 0::USMALLINT, (-2147483648)::INT, 0::UINTEGER, (-9223372036854775808)::BIGINT, 0::UBIGINT, DATE '0001-01-01', TIME '00:00:00', TIMESTAMP '0001-01-01 00:00:00', true, '00000000-0000-0000-0000-000000000000'::UUID, ''),
  (127, 255, 32767, 65535, 2147483647, 4294967295, 9223372036854775807, 18446744073709551615, DATE '9999-12-31', TIME '23:59:59.999999', TIMESTAMP '9999-12-31 23:59:59.999999', false, 'ffffffff-ffff-ffff-ffff-ffffffffffff', 'z'),
  (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)) t(i8, u8, i16, u16, i32, u32, i64, u64, d, t, ts, b, id, s)`, nil},
		// Instants and local times, one in the future of 2025-03-05T12:00:00Z.
		{"times.parquet", `SELECT x::TIMESTAMPTZ AS instant, x::TIMESTAMP AS local, x::TIMESTAMP::TIMESTAMP_NS AS nanos, x::TIMESTAMP::TIMESTAMP_MS AS millis, x::TIMESTAMP::DATE AS day
  FROM (VALUES ('2025-03-05 11:00:00+00'), ('2025-03-05 11:59:59.999999+00'), ('2025-03-06 00:00:00+00')) t(x)`, nil},
		{"texts.parquet", "SELECT x FROM (VALUES ('foo'), ('bar'), ('foobar'), ('xbar'), ('foox'), (''), ('näh'), (NULL)) t(x)", nil},
	}
}

// sets are about how often a value or a key is there.
func sets() []caseFile {
	return []caseFile{
		// (1, NULL), (1, NULL), (NULL, NULL), (NULL, NULL), (2, 3), (2, 3)
		{"keys.parquet", "SELECT * FROM (VALUES (1, NULL), (1, NULL), (NULL, NULL), (NULL, NULL), (2, 3), (2, 3)) t(a, b)", nil},
		// Keys that a separator would confuse.
		{"separators.parquet", "SELECT * FROM (VALUES ('a||b', 'c'), ('a', 'b||c'), ('', 'x'), ('x', '')) t(a, b)", nil},
		{"aab.parquet", "SELECT x FROM (VALUES ('A'), ('A'), ('B')) t(x)", nil},
		{"ab.parquet", "SELECT x FROM (VALUES ('A'), ('B')) t(x)", nil},
		{"aa.parquet", "SELECT x FROM (VALUES ('A'), ('A')) t(x)", nil},
		// 1,000 rows of one value that has no parent in ab.parquet.
		{"orphans.parquet", "SELECT CASE WHEN i < 1000 THEN 'C' ELSE 'A' END AS x FROM range(1500) r(i)", nil},
		// Several checks of one column at once: 5, -3, 9, NULL.
		{"fused.parquet", "SELECT x FROM (VALUES (5), (-3), (9), (NULL)) t(x)", nil},
	}
}

// layouts are files that differ from each other, or in how they are encoded.
func layouts() []caseFile {
	mixed := `SELECT i AS id, i % 7 AS small, (i * 0.25)::DOUBLE AS d, 'key-' || (i % 100) AS s, 'text ' || i || repeat('x', (i % 13)::INT) AS t,
  (i / 100)::DECIMAL(18, 2) AS amount, TIMESTAMP '2025-01-01' + to_seconds(i) AS ts, i % 3 = 0 AS b, CASE WHEN i % 10 > 0 THEN i::FLOAT END AS f FROM range(3000) r(i)`
	list := []caseFile{
		// One column as integers and as doubles: a reader that casts makes 2 of 1.9.
		{"drift-int.parquet", "SELECT x::BIGINT AS x FROM (VALUES (1), (2)) t(x)", nil},
		{"drift-double.parquet", "SELECT x::DOUBLE AS x FROM (VALUES (1.9), (2.0)) t(x)", nil},
		{"drift-missing.parquet", "SELECT y::BIGINT AS y FROM (VALUES (1), (2)) t(y)", nil},
		// Folders hour=01 and moment=12%3A00: keys whose text is not what a parser
		// would make of it.
		{"hours", "SELECT * FROM (VALUES ('01', 1), ('02', 2)) t(hour, x)", []string{"PARTITION_BY (hour)"}},
		{"escaped", "SELECT * FROM (VALUES ('12:00', 1), ('a b', 2), (NULL, 3)) t(moment, x)", []string{"PARTITION_BY (moment)"}},
		{"encodings-v1.parquet", mixed, []string{groups}},
		{"encodings-v2.parquet", mixed, []string{groups, v2}},
	}
	for _, codec := range []string{"uncompressed", "snappy", "gzip", "zstd", "brotli", "lz4_raw"} {
		list = append(list, caseFile{"codec-" + codec + ".parquet",
			"SELECT i, 'v' || (i % 50) AS s FROM range(500) r(i)", []string{"COMPRESSION " + codec}})
	}
	return list
}
