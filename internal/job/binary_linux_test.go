package job

import (
	"strings"
	"testing"

	"tandem/internal/db"
	"tandem/internal/job/wire"
	"tandem/internal/op"
)

// One zero byte kept a script out of a job's diff, which said no more than that binary files differ. It is drawn, with what it is and how
// it is opened; what is hidden from who looks is not, and the lines stay with their files.
func TestAZeroByteHidesNothing(t *testing.T) {
	a := newAlone(t, "true")
	a.write("a-logo.png", "\x89PNG\r\n\x1a\n\x00\x00\x00\x01\x02\xff\xfe\x03\x04")
	a.write("hidden.bin", "\x00\x01HIDDEN")
	a.write("run.sh", "echo evil\n\x00\necho \x1b[8mmore\n")
	a.git("add", "-A")
	a.git("commit", "-q", "-m", "more")
	a.job.ID, a.job.Commit = "job_2", a.git("rev-parse", "HEAD")
	if err := a.DB.Write(t.Context(), func(tx *db.Tx) error { return a.insert(tx, a.job) }); err != nil {
		t.Fatal(err)
	}
	ctx := op.WithCaller(t.Context(), op.Caller{Tenant: "t", Name: "ann", Kind: op.Person})
	ctx = op.WithSight(ctx, op.Sight{File: func(path string) bool { return !strings.HasSuffix(path, "hidden.bin") }})
	out, err := a.diff(ctx, wire.DiffIn{ID: a.job.ID})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"# a-logo.png: image/png, 17 bytes, object " + a.git("rev-parse", "HEAD:a-logo.png"),
		"# run.sh: text with bytes that are none, 26 bytes, object ", "# | echo evil\n", "cat-file blob " + a.git("rev-parse", "HEAD:run.sh")} {
		if !strings.Contains(out.Diff, want) {
			t.Errorf("the diff lacks %q", want)
		}
	}
	if strings.ContainsAny(out.Diff, "\x00\x1b") || strings.Contains(out.Diff, "HIDDEN") || out.Hidden != 1 {
		t.Errorf("it is drawn, and what is hidden is not there: %q, %d hidden", out.Diff, out.Hidden)
	}
	for _, f := range out.Files {
		if f.Path == "run.sh" && (f.Size != 26 || f.Digest != a.git("rev-parse", "HEAD:run.sh") || f.Type == "") ||
			f.Path == "secret.txt" && f.Digest != "" {
			t.Errorf("%+v", f)
		}
	}
	if t.Failed() {
		t.Log(out.Diff)
	}
}
