package panel

import (
	"net/url"
	"slices"
	"strconv"

	"tandem/internal/fault"
	"tandem/internal/panel/ui"
)

// SeveralView is several asks, each whole, that get one answer.
type SeveralView struct {
	Asks     []AskView
	Long     []AskRow // too long to be shown whole beside others: answered by themselves
	PIN      bool
	Passkeys int
	Problem  string
}

type severalIn struct {
	Asks     []lookedIn `json:"asks"`
	Decision string     `json:"decision"`
	Feedback string     `json:"feedback,omitempty"`
}

type lookedIn struct {
	ID     string   `json:"id"`
	Digest string   `json:"digest"`
	Pages  []string `json:"pages"`
}

// severalInput reads what the form shows: ids, digests and pages in step.
func severalInput(v *visit) (any, error) {
	ids, digests, pages := v.r.PostForm["ask"], v.r.PostForm["digest"], v.r.PostForm["pages"]
	if len(digests) != len(ids) || len(pages) != len(ids) {
		return nil, fault.New(fault.Invalid, "approval.decide_several", "the form does not say what was shown")
	}
	in := severalIn{Decision: v.r.PostFormValue("verdict"), Feedback: v.r.PostFormValue("feedback")}
	for i := range ids {
		in.Asks = append(in.Asks, lookedIn{ids[i], digests[i], pages[i : i+1]})
	}
	return in, nil
}

// severalAsks shows the chosen asks, each whole.
func (v *visit) severalAsks(ids []string, problem string) error {
	m, err := v.means()
	if err != nil {
		return err
	}
	out := SeveralView{PIN: m.PIN, Passkeys: m.Passkeys, Problem: problem}
	for _, id := range slices.Compact(slices.Sorted(slices.Values(ids)))[:min(len(ids), maxSeveral)] {
		a, err := call[wireAsk](v, "approval.get", map[string]any{"id": id})
		if err != nil {
			return err
		}
		one, err := v.whole(a, 1)
		switch {
		case err != nil:
			return err
		case a.State != "pending":
		case !one.whole() || !one.May:
			out.Long = append(out.Long, one.AskRow)
		default:
			out.Asks = append(out.Asks, one)
		}
	}
	s := v.shell("approvals", "Several asks")
	s.Back = &ui.Crumb{Label: "Approvals", Href: "/panel/approvals"}
	return v.show(severalPage(s, v.now(), out))
}

// maxSeveral is how many asks are looked at on one page.
const maxSeveral = 50

// alike are the asks that wait for the same operation on the same thing as a, itself among them.
func alike(pending []wireAsk, a wireAsk) (ids []string) {
	for _, b := range pending {
		if b.Op == a.Op && b.Resource == a.Resource && len(ids) < maxSeveral {
			ids = append(ids, b.ID)
		}
	}
	return ids
}

func severalHref(ids []string) string {
	return "/panel/approvals/several?" + url.Values{"ask": ids}.Encode()
}

// choosing says that there are several to choose from.
func (v ApprovalsView) choosing() bool { return v.Tab != "decided" && len(v.Rows) > 1 }

func (v SeveralView) says(x askAction) string {
	return x.Title + " all " + strconv.Itoa(len(v.Asks))
}
