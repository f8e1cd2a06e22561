# A folder with documents is bound, looked at, imported, searched and revoked.
machines laptop
laptop$ tandem pin set
laptop$ mkdir docs; printf '# Releases\n\n## When\n\nThe release day is Tuesday.\n' >docs/release.md; printf 'a\000b' >docs/broken.csv
laptop> tandem source add docs --name handbook   # shows what an import would bring, and imports nothing yet (PIN)
  shows handbook is paused, and nothing is imported yet
laptop> tandem source resume handbook            # it is right: import it (PIN)
laptop$ for i in $(seq 600); do tandem source list | grep -q 'passages, imported' && break; sleep 0.1; done
laptop> tandem source list                       # how far it is, and how many files could not be read
  shows active, 1 files in
laptop> tandem source show handbook              # which, and why
  shows broken.csv: it is no text
laptop> tandem source search release day
  shows handbook/release.md (Releases > When, line 3)
laptop> tandem source sync handbook              # what changed, what is new and what is gone
laptop> tandem source revoke handbook            # nobody finds anything of it any more (PIN)
  shows handbook is revoked
