package revset

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"tandem/internal/repo"
)

// stride is how many commits one worker takes at a time. A smaller set is not worth a second worker.
const stride = 256

// filter keeps the commits of s that a predicate holds for. Reading them is nearly all of the work, so every processor takes part;
// parts are handed out in order, so of several errors the newest commit's is told, as if one worker had done it all.
func (ev *evaluator) filter(ctx context.Context, p *predicate, s set) (set, error) {
	all := members(s)
	parts := make([]part, (len(all)+stride-1)/stride)
	for i := range parts {
		parts[i].ps = all[i*stride : min((i+1)*stride, len(all))]
	}
	next, failed := make(chan *part), atomic.Bool{}
	var workers sync.WaitGroup
	for range min(p.workers(), len(parts)) {
		workers.Go(func() {
			for part := range next {
				if part.err = ev.keep(ctx, p, part); part.err != nil {
					failed.Store(true)
				}
			}
		})
	}
	for i := range parts {
		if failed.Load() {
			break // the parts before it are under way, and end by themselves
		}
		next <- &parts[i]
	}
	close(next)
	workers.Wait()
	out := ev.empty()
	for _, part := range parts {
		if part.err != nil {
			return nil, part.err
		}
		for _, at := range part.kept {
			out.Add(at)
		}
	}
	return out, nil
}

// part is some of the commits that are asked, in order, and those of them that hold.
type part struct {
	ps, kept []repo.Pos
	err      error
}

// workers is how many may ask at once. Lines of files are compared by one: it holds two texts already.
func (p *predicate) workers() int {
	if p.field == "diff_lines" {
		return 1
	}
	return runtime.GOMAXPROCS(0)
}

func (ev *evaluator) keep(ctx context.Context, p *predicate, of *part) error {
	for _, at := range of.ps {
		c, err := ev.r.Store.Commit(ctx, ev.r.Index.ID(at))
		if err != nil {
			return err
		}
		ok, err := ev.test(p, c)
		if err != nil {
			return err
		}
		if ok {
			of.kept = append(of.kept, at)
		}
	}
	return nil
}
