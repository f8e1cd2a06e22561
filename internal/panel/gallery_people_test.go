package panel

import (
	"time"

	"tandem/internal/identity"
	"tandem/internal/panel/ui"
)

// Sample data for the pages about people.

var peopleCrumb = &ui.Crumb{Label: "People", Href: "/panel/people"}

func samplePeople() PeopleView {
	return PeopleView{Now: galleryNow, May: true, Near: true, PIN: true, Passkeys: 1, For: "carla", Receives: "edit on repository/atlas",
		Line:    "tandem login builder-7.example:13013#tdj_q8w7e6r5t4z3u2i1o0p9~6f1c2a9be0d44c8d9b7f3e5a1c0d2e4f6a8b9c0d",
		Regroup: true, Groups: []GroupRow{{Name: "owners", Members: []string{"person:owner"}, People: []string{"owner"}, Owners: true},
			{Name: "reviewers", Members: []string{"person:anna", "group:owners"}, People: []string{"anna", "owner"}}},
		Rows: []PersonRow{{Name: "owner", Owner: true, You: true, Devices: 1, Terminals: []string{"local"},
			Seen: before(time.Minute), Since: before(900 * time.Hour)},
			{Name: "anna", Devices: 2, Terminals: []string{"anna.laptop", "anna.desk"}, Seen: before(2 * time.Hour),
				Since: before(90 * time.Hour)},
			{Name: "bert\u202e", Since: before(200 * time.Hour), Left: before(50 * time.Hour)}},
		Invites: []InviteRow{{ID: "inv_1", Person: "carla", By: "owner", Uses: 1, Until: after(23 * time.Hour)},
			{ID: "inv_2", Person: "anna", By: "owner", Uses: 1, Used: 1, Joined: "anna.laptop 192.0.2.7", Until: after(3 * time.Hour)},
			{ID: "inv_3", By: "owner", Uses: 20, Used: 3, Joined: "ci-1 192.0.2.20, ci-2 192.0.2.21, ci-3 192.0.2.22",
				Until: before(time.Hour)}}}
}

func samplePerson() PersonView {
	return PersonView{PersonRow: samplePeople().Rows[1], Now: galleryNow, Remove: true, Revoke: true, Own: true, HandOver: true,
		ActorHref: "/panel/actors/act_1",
		Grants:    sampleGrants()[1:3], Machines: []MachineRow{
			{ID: "dev_1", Machine: "laptop", Terminal: "anna.laptop", Since: before(90 * time.Hour), Used: before(2 * time.Hour)},
			{ID: "dev_2", Machine: "desk", Terminal: "anna.desk", Since: before(40 * time.Hour), Revoked: before(time.Hour)}}}
}

func sampleTenants() TenantsView {
	return TenantsView{Now: galleryNow, PIN: true, Passkeys: 1, For: "carla", Made: "acme",
		Came: &identity.ImportOut{Tenant: identity.Tenant{Name: "globex\u202e"}, Records: 4321, Secrets: 2,
			Digest:    "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
			Authority: []string{"31 people, agents and services", "4 tokens that work", "2 PINs", "57 grants"},
			Ended:     map[string]int{"turns": 2, "automations": 1}, Doubt: []string{"secret:short"}},
		Line: "tandem login builder-7.example:13013#tdj_q8w7e6r5t4z3u2i1o0p9~6f1c2a9be0d44c8d9b7f3e5a1c0d2e4f6a8b9c0d",
		Rows: []TenantRow{{Name: "local", Own: true, People: 3, Actors: 12, Since: before(900 * time.Hour)},
			{Name: "acme", People: 1, Actors: 4, Since: before(time.Minute), Used: "1.2usd of 20usd this month, 3 of 50 sessions"},
			{Name: "globex\u202e", Suspended: true, Reason: "the bill is open", People: 7, Actors: 31, Since: before(90 * time.Hour),
				Changed: before(2 * time.Hour)}}}
}

func sampleErase() ConfirmView {
	return ConfirmView{Title: "Erase this tenant for good?", Text: "Everything that it has on this server goes. Nobody can bring it back.",
		Subject: "globex\u202e", Does: "Erase for good", Action: "/panel/tenants/globex/erase", Back: "/panel/tenants", Present: true, PIN: true,
		Typed: "Type its name to erase it", Shown: tenantContents(identity.TenantContents{Records: 12345, Files: 3,
			Rows: []identity.ContentRows{{Of: "actor", Rows: 31}, {Of: "session", Rows: 12000}, {Of: "journal", Rows: 314}},
			Stays: []string{"copies of this server that were made before, wherever they are: tandem server backup",
				"the transcripts that agent programs keep themselves"}})}
}
