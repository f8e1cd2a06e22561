# A model works under a person's rules. api.anthropic.com answers here with a scripted model.
machines laptop
laptop$ mkdir -p code/app; tandem pin set
laptop> tandem provider key anthropic                         # sealed, never in a log; offers to be what sessions use
  type sk-ant-0123456789
  type y
  shows the key for anthropic is sealed
  shows sessions use anthropic/
laptop> tandem grant folder ~/code/app                        # read it; changing it asks
laptop> tandem run "make the tests pass" -C ~/code/app        # what must be approved is shown and asked here
  shows echo: make the tests pass
laptop> tandem approvals                                      # or anywhere: what waits, and exactly what would be done
  shows nothing
