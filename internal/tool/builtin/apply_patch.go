package builtin

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/tool"
)

//go:embed apply_patch.md
var applyPatchDoc string

type applyPatch struct{}

type applyPatchArgs struct {
	Patch string `json:"patch" jsonschema:"the whole patch, from *** Begin Patch to *** End Patch"`
}

// maxPatchFiles bounds what one person has to look through.
const maxPatchFiles = 100

func (applyPatch) Spec() tool.Spec {
	return tool.Spec{Name: "apply_patch", Doc: applyPatchDoc, Schema: schemaOf[applyPatchArgs](), Right: "folder.write", Changes: true}
}

// patched is one file that a patch leaves different.
type patched struct {
	fileChange
	at     tool.Place
	target *tool.Place // of a renamed file
}

func (applyPatch) Plan(env *tool.Env, raw json.RawMessage) (*tool.Plan, error) {
	var a applyPatchArgs
	if err := tool.Decode("apply_patch", raw, &a); err != nil {
		return nil, err
	}
	changes, err := parsePatch(a.Patch)
	if err != nil {
		return nil, err
	}
	if len(changes) > maxPatchFiles {
		return nil, fault.New(fault.Invalid, "apply_patch", "a patch changes at most %d files", maxPatchFiles)
	}
	var files []patched
	touch := op.Touch{Tool: "apply_patch"}
	seen := map[string]bool{}
	see := func(name string) (tool.Place, error) {
		p, err := env.Scope.Locate(env.Dir, name, true)
		if err == nil && seen[p.Path] {
			err = fault.New(fault.Invalid, "apply_patch", "%s is changed twice", name).WithNext("put its changes together")
		}
		seen[p.Path] = true
		if err == nil {
			touch.Paths, touch.Also = append(touch.Paths, tool.Slashed(p.Path)), append(touch.Also, folder(p))
		}
		return p, err
	}
	for _, c := range changes {
		f := patched{fileChange: c}
		if f.at, err = see(c.path); err != nil {
			return nil, err
		}
		if c.to != "" {
			to, err := see(c.to)
			if err != nil {
				return nil, err
			}
			f.target = &to
		}
		files = append(files, f)
	}
	return &tool.Plan{Title: patchTitle(changes), Resource: touch.Also[0], Touch: touch,
		Bind: func() ([]op.Bound, error) { return bindFiles(files) },
		Run: func(ctx context.Context, _ func(string)) (tool.Result, error) {
			return runPatch(ctx, env, files, false)
		},
		// What each file held is kept before the first one changes, so a crash in the middle is completed from there.
		Recover: func(ctx context.Context) (tool.Result, bool, error) {
			r, err := runPatch(ctx, env, files, true)
			return r, err == nil, err
		}}, nil
}

func patchTitle(changes []fileChange) string {
	var names []string
	for _, c := range changes {
		names = append(names, c.verb+" "+c.path)
	}
	if len(names) > 4 {
		names = append(names[:3], fmt.Sprintf("and %d more", len(names)-3))
	}
	return "patch: " + strings.Join(names, ", ")
}

// step is one file to be written or removed.
type step struct {
	at      tool.Place
	before  []byte
	existed bool
	after   []byte
	remove  bool
}

// runPatch works out every file first, keeps what they held, and then changes them. again completes what a crash cut off.
func runPatch(ctx context.Context, env *tool.Env, files []patched, again bool) (tool.Result, error) {
	var steps []step
	for _, f := range files {
		some, err := f.steps(ctx, env, again)
		if err != nil {
			return tool.Result{}, err
		}
		steps = append(steps, some...)
	}
	for _, s := range steps {
		if err := unchanged(ctx, s.at, s.before, s.existed); err != nil {
			return tool.Result{}, err
		}
	}
	if env.Before != nil {
		for _, s := range steps {
			if err := env.Before(ctx, s.at.Path, s.before, s.existed); err != nil {
				return tool.Result{}, err
			}
		}
	}
	var shown, said strings.Builder
	var paths []string
	for _, s := range steps {
		verb := "changed"
		var err error
		switch {
		case s.remove:
			verb, err = "deleted", s.at.Remove()
		case !s.existed:
			verb, err = "created", s.at.WriteFile(s.after)
		default:
			err = s.at.WriteFile(s.after)
		}
		if err != nil {
			return tool.Result{}, err
		}
		paths = append(paths, s.at.Path)
		fmt.Fprintf(&said, "%s %s\n", verb, s.at.Path)
		shown.WriteString(diff(env.Dir, s.at.Path, s.before, s.after, s.existed, !s.remove))
	}
	return tool.Result{Text: said.String(), Meta: map[string]any{"diff": shown.String(), "paths": paths}}, nil
}

// held is what a file held before the patch. After a crash that is what was kept, if the file is as it was or as it will be.
func held(ctx context.Context, env *tool.Env, p tool.Place, again bool) ([]byte, bool, error) {
	if again && env.Kept != nil {
		if content, existed, known, err := env.Kept(ctx, p.Path); err != nil || known {
			return content, existed, err
		}
	}
	b, err := p.ReadFile(maxFile)
	if fault.Is(err, fault.NotFound) {
		return nil, false, nil
	}
	return b, err == nil, err
}

func (f patched) steps(ctx context.Context, env *tool.Env, again bool) ([]step, error) {
	before, existed, err := held(ctx, env, f.at, again)
	if err != nil {
		return nil, err
	}
	s := step{at: f.at, before: before, existed: existed}
	switch {
	case f.verb == "add" && existed:
		return nil, fault.New(fault.Conflict, "apply_patch", "%s is there already", f.path).WithNext("update it instead of adding it")
	case f.verb != "add" && !existed:
		return nil, fault.New(fault.NotFound, "apply_patch", "there is no %s", f.path)
	case f.verb == "add":
		s.after = []byte(f.added)
	case f.verb == "delete":
		s.remove = true
	default:
		text, err := f.apply(string(before))
		if err != nil {
			return nil, err
		}
		s.after = []byte(text)
	}
	if f.target == nil {
		return []step{s}, foreign(s, again)
	}
	was, there, err := held(ctx, env, *f.target, again)
	if err != nil {
		return nil, err
	}
	if there {
		return nil, fault.New(fault.Conflict, "apply_patch", "%s is there already", f.to)
	}
	to := step{at: *f.target, before: was, after: s.after}
	s.remove, s.after = true, nil
	if err := foreign(s, again); err != nil {
		return nil, err
	}
	return []step{to, s}, foreign(to, again)
}

// foreign refuses to complete a patch over what somebody else wrote since.
func foreign(s step, again bool) error {
	if !again {
		return nil
	}
	now, err := s.at.ReadFile(maxFile)
	gone := fault.Is(err, fault.NotFound)
	switch {
	case err != nil && !gone:
		return err
	case gone && (!s.existed || s.remove), !gone && s.existed && bytes.Equal(now, s.before), !gone && !s.remove && bytes.Equal(now, s.after):
		return nil
	}
	return fault.New(fault.Conflict, "apply_patch", "%s was changed by somebody else meanwhile", s.at.Path)
}
