# A team remembers something; an agent proposes, a person decides.
machines laptop
laptop$ tandem pin set
laptop> tandem memory add 'Releases are cut on Tuesdays' --kind decision      # live at once, stated by you (PIN)
  shows is live for team, stated
laptop> tandem memory propose 'Releases need a green build' --kind lesson     # what agents do: it waits for a person
  shows is proposed for team
laptop> tandem memory list --state proposed
  shows Releases need a green build
laptop> tandem memory list --state proposed                   # what agents think is worth keeping
  shows Releases need a green build
let mem_01j9z laptop$ tandem memory list --state proposed --json | grep -o 'mem_[a-z0-9]*' | head -1
laptop> tandem memory promote mem_01j9z      # you read it: from now on it is found and told (PIN)
  shows is live for team, approved
laptop> tandem memory search 'release*'
  shows Releases need a green build
laptop> tandem memory edit mem_01j9z 'Releases need two green builds'      # (PIN)
laptop> tandem memory history mem_01j9z
  shows Releases need a green build
laptop> tandem memory demote mem_01j9z       # nobody finds it, until somebody promotes it again
laptop> tandem memory forget mem_01j9z       # every text that it ever had is deleted (PIN)
  shows is forgotten
