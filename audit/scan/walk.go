package scan

import "context"

// WalkPages reads the pages of one column chunk as far as need asks for and does
// nothing with them: what any scan of the chunk costs at least. It returns how
// many bytes of encoded values it saw: none where levels are all that is asked.
func (f *File) WalkPages(ctx context.Context, rg int, want ColumnNeed) (int64, error) {
	c, err := f.chunk(rg, want.Column)
	if err != nil {
		return 0, err
	}
	pages := f.openChunk(c, want.Need, f.src, f.opts.ReadSize)
	defer pages.close(f)
	bytes := int64(0)
	for {
		if err := ctx.Err(); err != nil {
			return bytes, err
		}
		p, err := pages.next(ctx)
		if p == nil || err != nil {
			return bytes, err
		}
		bytes += int64(len(p.values))
	}
}
