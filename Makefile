# The same words in every project; all of the work is in ./dev.

.PHONY: install lint check test report

install:  ## the environment, with what testing needs
	./dev setup

lint:  ## correct what can be corrected
	./dev exec ruff check --fix .
	./dev exec ruff format .

check:  ## ruff, mypy, import-linter, deptry; changes nothing
	./dev lint

test:  ## the whole gate
	./dev test

report:  ## verify the three claims of the nightly at the scale that takes minutes
	./dev verify claims/mos_rank.yaml claims/lms_plif_regularization.yaml claims/fair_mos.yaml --scale quick
