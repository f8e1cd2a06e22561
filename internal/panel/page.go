package panel

import "tandem/internal/panel/ui"

// page is one entry of the navigation. To add a page: write <noun>.go and
// <noun>.templ, declare one of these, and put it into pages.
type page struct {
	id, label, href, icon string
	key                   string       // shortcut: "g a"
	needs                 string       // the operation without which the page is not shown
	routes                func(*Panel) // its handlers
}

type pageGroup struct {
	label string
	pages []page
}

// pages is the navigation, group by group.
func pages() []pageGroup {
	return []pageGroup{
		{"", []page{overviewNav(), approvalsNav(), journalNav()}},
		{"Work", []page{sessionsNav(), jobsNav(), teamsNav(), automationsNav(), relaysNav(), boardNav(), spacesNav(), memoryNav(),
			sourcesNav(), knowledgeNav()}},
		{"Authority", []page{peopleNav(), actorsNav(), policyNav()}},
		{"Rooms", []page{reposNav(), resourcesNav()}},
		{"House", []page{modelsNav(), connectorsNav(), copiesNav(), tenantsNav(), systemNav()}},
	}
}

// nav is what of it exists for the visitor.
func (v *visit) nav(active string, counts map[string]int) []ui.NavGroup {
	var out []ui.NavGroup
	for _, g := range v.p.pages {
		group := ui.NavGroup{Label: g.label}
		for _, n := range g.pages {
			if n.needs != "" && !v.has(n.needs) {
				continue
			}
			item := ui.NavItem{ID: n.id, Label: n.label, Href: n.href, Icon: n.icon, Key: n.key, Active: n.id == active, Count: counts[n.id]}
			group.Items = append(group.Items, item)
		}
		if len(group.Items) > 0 {
			out = append(out, group)
		}
	}
	return out
}
