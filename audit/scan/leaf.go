package scan

import (
	"fmt"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// leaf adds the column of a primitive node.
func (f *fileSchema) leaf(n *schema.PrimitiveNode, at place) (Type, error) {
	index := len(f.columns)
	if index >= f.source.NumColumns() {
		return Type{}, fmt.Errorf("column %s: more leaves than the schema counts", at.path)
	}
	sc := f.source.Column(index)
	if sc.MaxDefinitionLevel() != int16(at.def) || sc.MaxRepetitionLevel() != int16(at.rep) {
		return Type{}, fmt.Errorf("column %s: levels %d/%d, expected %d/%d", at.path,
			sc.MaxDefinitionLevel(), sc.MaxRepetitionLevel(), at.def, at.rep)
	}
	c := Column{
		Index: index, Path: sc.ColumnPath(), Dotted: at.path,
		Repetition: Repetition(n.RepetitionType()), MaxDef: at.def, MaxRep: at.rep,
		Absent: at.absent(),
	}
	if id := n.FieldID(); id >= 0 {
		c.FieldID = &id
	}
	if err := c.setPhysical(n); err != nil {
		return Type{}, fmt.Errorf("column %s: %w", at.path, err)
	}
	if lt := n.LogicalType(); lt != nil && lt.IsValid() && !lt.IsNone() {
		c.Logical = lt.String()
	}
	c.Type = c.leafType(n)
	f.addRef(at, at.def, c.Type)
	c.Ref = f.refs[len(f.refs)-1]
	f.columns = append(f.columns, c)
	return c.Type, nil
}

func (c *Column) setPhysical(n *schema.PrimitiveNode) error {
	switch t := n.PhysicalType(); t {
	case parquet.Types.Boolean:
		c.Physical = PhysBool
	case parquet.Types.Int32:
		c.Physical = PhysInt32
	case parquet.Types.Int64:
		c.Physical = PhysInt64
	case parquet.Types.Int96:
		c.Physical = PhysInt96
	case parquet.Types.Float:
		c.Physical = PhysFloat
	case parquet.Types.Double:
		c.Physical = PhysDouble
	case parquet.Types.ByteArray:
		c.Physical = PhysBytes
	case parquet.Types.FixedLenByteArray:
		c.Physical = PhysFixed
		c.TypeLength = n.TypeLength()
		if c.TypeLength <= 0 {
			return fmt.Errorf("fixed length of %d bytes", c.TypeLength)
		}
	default:
		return fmt.Errorf("unknown physical type %d", t)
	}
	return nil
}

// leafType maps a leaf's annotation to a type. One that this package does not
// know leaves the plain physical type.
func (c *Column) leafType(n *schema.PrimitiveNode) Type {
	switch lt := n.LogicalType().(type) {
	case schema.StringLogicalType:
		return Type{Kind: String}
	case schema.EnumLogicalType:
		return Type{Kind: Enum}
	case schema.JSONLogicalType:
		return Type{Kind: JSON}
	case schema.BSONLogicalType:
		return Type{Kind: BSON}
	case schema.UUIDLogicalType:
		return Type{Kind: UUID}
	case schema.Float16LogicalType:
		return Type{Kind: Float16}
	case schema.IntervalLogicalType:
		return Type{Kind: Interval}
	case schema.GeometryLogicalType:
		return Type{Kind: Geometry}
	case schema.GeographyLogicalType:
		return Type{Kind: Geography}
	case schema.NullLogicalType:
		return Type{Kind: Null}
	case schema.DateLogicalType:
		return Type{Kind: Date}
	case schema.DecimalLogicalType:
		return Type{Kind: Decimal, Precision: int(lt.Precision()), Scale: int(lt.Scale())}
	case schema.IntLogicalType:
		if t, ok := intType(lt); ok {
			return t
		}
	case schema.TimeLogicalType:
		return Type{Kind: Time, Unit: unitOf(lt.TimeUnit())}
	case schema.TimestampLogicalType:
		return Type{Kind: Timestamp, Unit: unitOf(lt.TimeUnit()), UTC: lt.IsAdjustedToUTC()}
	}
	return c.plainType()
}

func (c *Column) plainType() Type {
	switch c.Physical {
	case PhysBool:
		return Type{Kind: Bool}
	case PhysInt32:
		return Type{Kind: Int32}
	case PhysInt64:
		return Type{Kind: Int64}
	case PhysInt96:
		return Type{Kind: Timestamp, Unit: Nano, UTC: true}
	case PhysFloat:
		return Type{Kind: Float}
	case PhysDouble:
		return Type{Kind: Double}
	case PhysFixed:
		return Type{Kind: FixedBinary, Width: c.TypeLength}
	}
	return Type{Kind: Binary}
}

// intType is false for a width that Parquet does not have.
func intType(lt schema.IntLogicalType) (Type, bool) {
	kinds := map[int8][2]Kind{8: {Uint8, Int8}, 16: {Uint16, Int16}, 32: {Uint32, Int32}, 64: {Uint64, Int64}}
	pair, ok := kinds[lt.BitWidth()]
	if lt.IsSigned() {
		return Type{Kind: pair[1]}, ok
	}
	return Type{Kind: pair[0]}, ok
}

func unitOf(u schema.TimeUnitType) Unit {
	switch u {
	case schema.TimeUnitMillis:
		return Milli
	case schema.TimeUnitMicros:
		return Micro
	}
	return Nano
}
