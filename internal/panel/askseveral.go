package panel

import (
	"net/url"
	"slices"
	"strconv"

	"tandem/internal/approval"
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

// severalInput reads what the form shows: ids, digests and pages in step.
func severalInput(v *visit) (approval.SeveralIn, error) {
	var in approval.SeveralIn
	ids, digests, pages := v.r.PostForm["ask"], v.r.PostForm["digest"], v.r.PostForm["pages"]
	if len(digests) != len(ids) || len(pages) != len(ids) {
		return in, fault.New(fault.Invalid, string(approval.AskDecideSeveral), "the form does not say what was shown")
	}
	in.Verdict, in.Feedback = approval.Verdict(v.r.PostFormValue("verdict")), v.r.PostFormValue("feedback")
	for i := range ids {
		in.Asks = append(in.Asks, approval.Looked{ID: ids[i], Digest: digests[i], Pages: pages[i : i+1]})
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
		a, err := ask(v, approval.AskGet, approval.IDIn{ID: id})
		if err != nil {
			return err
		}
		one, err := v.whole(a, 1)
		switch {
		case err != nil:
			return err
		case a.State != approval.Pending:
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
func alike(pending []*approval.Ask, a *approval.Ask) (ids []string) {
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
