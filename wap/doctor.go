package wap

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/wap-cli/wap/manifest"
	"github.com/wap-cli/wap/wap/store"
)

// DoctorResult is what a store at a warehouse's root really does.
type DoctorResult struct {
	URL      string       `json:"url"`
	Accepted bool         `json:"accepted"` // no check is broken
	Checks   []StoreCheck `json:"checks"`
	Speed    StoreSpeed   `json:"speed"`
	Facts    StoreFacts   `json:"facts"`
	// Policy is the bucket policy that forces conditional writes; null for
	// local folders.
	Policy *BucketPolicy `json:"policy"`
}

// StoreSpeed is how fast this store was for this machine, just now.
type StoreSpeed struct {
	ReadMicros   int64 `json:"read_microseconds"`  // median of small reads
	WriteMicros  int64 `json:"write_microseconds"` // median of small conditional writes
	UploadRate   int64 `json:"upload_bytes_per_second"`
	DownloadRate int64 `json:"download_bytes_per_second"`
}

// StoreFacts is where the store is and how it is reached.
type StoreFacts struct {
	Endpoint    string `json:"endpoint"`
	Region      string `json:"region"`
	Credentials string `json:"credentials"` // the source, as the SDK calls it
	Versioning  string `json:"versioning"`
}

// Doctor finds out what a store does: everything that init asks, and more of
// it, with what else is worth knowing. It needs no warehouse and changes none.
// Errors: store_broken, with the result; outside, not_found.
func Doctor(ctx context.Context, cfg Config) (*DoctorResult, error) {
	cfg = cfg.withDefaults()
	w := &Warehouse{cfg: cfg}
	p := w.newProbe(w.probeDepth(false))
	res := &DoctorResult{URL: cfg.Location.String(), Policy: NewBucketPolicy(cfg.Location)}
	err := p.examine(ctx, res)
	if clean := p.clean(ctx); err == nil && clean != nil {
		p.found("clean", CheckWarning, "not all of %s could be removed: %s", p.prefix, clean)
	}
	res.Checks = p.checks
	if err == nil {
		err = p.broken()
	}
	res.Accepted = err == nil
	return res, err
}

// examine runs all checks and measures.
func (p *probe) examine(ctx context.Context, res *DoctorResult) error {
	if err := p.conditions(ctx); err != nil {
		return err
	}
	if p.broken() != nil && ctx.Err() == nil {
		return p.facts(ctx, res) // measuring needs a store that works
	}
	if err := p.facts(ctx, res); err != nil {
		return err
	}
	if err := p.measure(ctx, &res.Speed); err != nil {
		return outside("measure the store at %s", p.w.cfg.Location).because(err)
	}
	return nil
}

// facts asks the bucket about itself.
func (p *probe) facts(ctx context.Context, res *DoctorResult) error {
	if p.w.cfg.Location.Scheme == store.SchemeFile {
		p.found("writes", CheckInfo, "create: temporary file, fsync, link; replace: lock, compare, fsync, rename, fsync of the folder")
		return nil
	}
	f, err := store.Inspect(ctx, p.w.cfg.Store, p.prefix)
	if err != nil {
		return outside("ask the store at %s about itself", p.w.cfg.Location).because(err)
	}
	res.Facts = StoreFacts{Endpoint: f.Endpoint, Region: f.Region, Credentials: f.Credentials, Versioning: f.Versioning}
	p.sums(f)
	switch f.Versioning {
	case "enabled":
		p.found("versioning", CheckInfo, "enabled: inputs are pinned by version, and superseded pointers pile up until a rule removes old versions")
	case "off", "suspended":
		p.found("versioning", CheckInfo, "%s: an input that is overwritten is noticed, and can no longer be fetched", f.Versioning)
	}
	if f.ObjectLock {
		p.found("object lock", CheckWarning, "new objects are locked by default: gc cannot remove them before that is over")
	}
	p.lifecycle(f)
	for _, u := range f.Unanswered {
		p.found("unknown", CheckInfo, "the store does not tell this caller about %s", u)
	}
	return nil
}

// sums tells who would notice bytes that break on the way.
func (p *probe) sums(f store.Facts) {
	for _, c := range []struct{ name, did, what string }{
		{"checksums", f.Checksum, "a body"},
		{"part checksums", f.PartChecksum, "a part of an upload"},
	} {
		switch c.did {
		case "refused":
			p.found(c.name, CheckOK, "%s whose SHA-256 is wrong was refused", c.what)
		case "accepted":
			p.found(c.name, CheckWarning, "%s whose SHA-256 is wrong was stored: what breaks on the way here is only seen when it is read", c.what)
		}
	}
	switch f.Trailer {
	case "taken":
		p.found("trailers", CheckOK, "a body in chunks with its checksum behind it, as SDKs send by default over TLS, is taken")
	case "refused", "stored with its framing":
		p.found("trailers", CheckWarning, "a body in chunks with its checksum behind it, as SDKs send by default over TLS, is %s: "+
			"wap sends none; give engines that stage files request_checksum_calculation = when_required", f.Trailer)
	}
}

// lifecycle warns of rules that remove what the pointer may name, and of parts
// that nothing removes.
func (p *probe) lifecycle(f store.Facts) {
	root := p.w.cfg.Location.Key("_wap/")
	aborts := false
	for _, r := range f.Lifecycle {
		// A rule reaches the warehouse when one prefix holds the other.
		if !strings.HasPrefix(root, r.Prefix) && !strings.HasPrefix(r.Prefix, root) {
			continue
		}
		aborts = aborts || r.AbortDays > 0
		if r.Expires {
			p.found("lifecycle", CheckWarning, "rule %q on %q removes live objects of the warehouse: take %q out of it", r.ID, r.Prefix, root)
		}
	}
	if aborts {
		p.found("lifecycle", CheckOK, "parts of uploads that were killed are removed by a rule")
	} else {
		p.found("lifecycle", CheckInfo, "no rule removes the parts of uploads that were killed: add AbortIncompleteMultipartUpload, 7 days, for %q", root)
	}
	if f.UploadsHidden {
		p.found("uploads", CheckInfo, "the store lists unfinished uploads of one whole key alone: what killed ones left cannot be seen")
	}
	if n := len(f.Uploads); n > 0 {
		oldest := slices.MinFunc(f.Uploads, func(a, b store.PendingUpload) int { return a.Started.Compare(b.Started) })
		many := "uploads"
		if n == 1 {
			many = "upload"
		}
		p.found("uploads", CheckWarning, "%d unfinished multipart %s, the oldest of %s since %s: running now, or left by a kill and still paid for",
			n, many, oldest.Key, oldest.Started.Format(time.RFC3339))
	}
}

const (
	smallTries = 9
	bulkBytes  = 32 << 20
)

// measure times small reads and writes, and one bulk transfer each way.
func (p *probe) measure(ctx context.Context, s *StoreSpeed) error {
	st := p.w.cfg.Store
	body := bytes.Repeat([]byte("wap "), 256)
	var reads, writes []time.Duration
	for i := range smallTries {
		key := p.key(fmt.Sprintf("small-%d", i))
		begun := time.Now()
		if _, err := st.Create(ctx, key, body); err != nil {
			return err
		}
		written := time.Now()
		if _, _, err := st.Get(ctx, key); err != nil {
			return err
		}
		writes, reads = append(writes, written.Sub(begun)), append(reads, time.Since(written))
	}
	slices.Sort(reads)
	slices.Sort(writes)
	s.ReadMicros, s.WriteMicros = reads[smallTries/2].Microseconds(), writes[smallTries/2].Microseconds()

	begun := time.Now()
	e, err := st.Upload(ctx, p.key("bulk"), pattern{}, bulkBytes)
	if err != nil {
		return err
	}
	uploaded := time.Now()
	r, err := st.GetRange(ctx, e.Key, 0, bulkBytes, e.Version)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, r)
	if err := errors.Join(err, r.Close()); err != nil {
		return err
	}
	s.UploadRate, s.DownloadRate = rate(uploaded.Sub(begun)), rate(time.Since(uploaded))
	return nil
}

func rate(d time.Duration) int64 { return int64(bulkBytes / max(d.Seconds(), 1e-6)) }

// pattern is endless data that does not compress to nothing.
type pattern struct{}

// ReadAt implements io.ReaderAt.
func (pattern) ReadAt(b []byte, off int64) (int, error) {
	for i := range b {
		x := uint64(off) + uint64(i)
		b[i] = byte(x * x >> 7)
	}
	return len(b), nil
}

// BucketPolicy is a policy of S3, in its own spelling.
type BucketPolicy struct {
	Version   string            `json:"Version"`
	Statement []PolicyStatement `json:"Statement"`
}

// PolicyStatement is one rule of a policy.
type PolicyStatement struct {
	Sid       string                       `json:"Sid"`
	Effect    string                       `json:"Effect"`
	Principal string                       `json:"Principal"`
	Action    string                       `json:"Action"`
	Resource  []string                     `json:"Resource"`
	Condition map[string]map[string]string `json:"Condition"`
}

// NewBucketPolicy returns the policy that refuses every write of the pointer
// and of run records that has no condition, whoever sends it; nil for a local
// folder. Several keys of one operator are joined by "and": a write is denied
// when it has neither condition. See "Enforce conditional writes" in the user
// guide of Amazon S3. Parts of multipart uploads carry no conditions, so these
// objects cannot be written in parts either; wap never does.
func NewBucketPolicy(loc store.Location) *BucketPolicy {
	if loc.Scheme != store.SchemeS3 {
		return nil
	}
	arn := "arn:aws:s3:::" + loc.Bucket + "/"
	return &BucketPolicy{
		Version: "2012-10-17",
		Statement: []PolicyStatement{{
			Sid: "WapConditionalWrites", Effect: "Deny", Principal: "*", Action: "s3:PutObject",
			Resource: []string{
				arn + loc.Key(strings.TrimSuffix(manifest.PointerKey, "main.json")+"*"),
				arn + loc.Key(manifest.RunsPrefix+"*/run.json"),
			},
			Condition: map[string]map[string]string{"Null": {"s3:if-match": "true", "s3:if-none-match": "true"}},
		}},
	}
}
