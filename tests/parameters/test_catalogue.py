"""The catalogue's own files, and parameters it does not have."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.parameters.machines import small
from unisono.core.errors import UserError
from unisono.core.vocabulary import CALL_SCOPE, COLLECTIVES
from unisono.inventory.describe import describe
from unisono.inventory.mpi import embedded_mpirun
from unisono.parameters import catalogue, conditions
from unisono.parameters.known import require_known
from unisono.parameters.spelling import is_environment
from unisono.parameters.values import require_value

PARAMETERS = catalogue.load("openmpi")


@pytest.mark.parametrize("name", PARAMETERS)
def test_every_parameter_is_explained(name: str) -> None:
    parameter = PARAMETERS[name]
    assert parameter.meaning.endswith(".")
    assert "\n" not in parameter.meaning
    assert parameter.source
    assert len(set(parameter.values)) == len(parameter.values)
    assert (parameter.scope == "call") == (name in CALL_SCOPE)
    assert (parameter.kind == "env") == is_environment(name)
    if parameter.scope == "boot":
        assert parameter.remedy
    if parameter.kind == "env":
        assert re.fullmatch(r"[A-Z0-9_]+", name)


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_parameter_takes_its_own_values(name: str) -> None:
    parameter = PARAMETERS[name]
    for value in (*parameter.values, *([parameter.default] if parameter.default else [])):
        require_value(parameter, value)


@pytest.mark.parametrize("value", ["inf", "8192", "1.5M", "16KB", "intra:16kb,inter:128kb", "inter:auto"])
def test_thresholds_as_ucx_reads_them(value: str) -> None:
    require_value(PARAMETERS["UCX_RNDV_THRESH"], value)


@pytest.mark.parametrize(
    ("name", "value"),
    [("UCX_RNDV_THRESH", "16qb"), ("UCX_RNDV_THRESH", "intra:16kb,outer:1k"), ("btl_sm_eager_limit", "4 kb")],
)
def test_a_value_in_an_unknown_unit_is_refused(name: str, value: str) -> None:
    with pytest.raises(UserError, match=f"{name}: '{value}' is not a value it takes; write"):
        require_value(PARAMETERS[name], value)


@pytest.mark.parametrize("name", PARAMETERS)
def test_every_condition_exists(name: str) -> None:
    for need in PARAMETERS[name].needs:
        result = conditions.check(need, small())
        if isinstance(result, conditions.Unmet):
            assert result.reason
            assert result.remedy


def test_an_unknown_condition_is_an_error() -> None:
    with pytest.raises(UserError, match="'weather:fine'"):
        conditions.check("weather:fine", small())


def test_components_serve_collectives_that_exist() -> None:
    for component in catalogue.components("openmpi").values():
        assert set(component.serves) <= set(COLLECTIVES)
        assert component.meaning.endswith(".")


def test_what_the_documents_sweep_is_there() -> None:
    for name in (
        "UCX_RNDV_THRESH",
        "UCX_ZCOPY_THRESH",
        "UCX_TLS",
        "UCX_NET_DEVICES",
        "coll_hcoll_enable",
        "coll_ucc_enable",
    ):
        assert name in PARAMETERS
    assert {"4kb", "8kb", "16kb", "32kb", "64kb", "128kb"} == set(PARAMETERS["UCX_RNDV_THRESH"].values)
    assert PARAMETERS["UCX_RNDV_THRESH"].default == "auto"


def test_a_family_without_a_catalogue() -> None:
    with pytest.raises(UserError, match="no catalogue of parameters for 'spectrum'"):
        catalogue.load("spectrum")


@pytest.mark.parametrize(
    ("name", "suggestion"),
    [
        ("UCX_RNDV_TRESH", "UCX_RNDV_THRESH"),
        ("ucx_rndv_thresh", "UCX_RNDV_THRESH"),
        ("coll_hcol_enable", "coll_hcoll_enable"),
        ("placment", "placement"),
        ("algoritm", "algorithm"),
    ],
)
def test_a_misspelt_name_gets_close_ones(name: str, suggestion: str) -> None:
    with pytest.raises(UserError, match=f"did you mean .*{suggestion}"):
        require_known(name, small())


@given(st.text(max_size=20))
def test_any_name_is_known_or_refused_in_one_line(name: str) -> None:
    try:
        assert require_known(name, small()).name == name
    except UserError as error:
        assert str(error).startswith(f"{name}: ")


def test_a_boot_setting_is_not_varied_by_a_study() -> None:
    with pytest.raises(UserError, match=r"NPS: is a boot setting.*\[boot\]"):
        require_known("NPS", small())


def test_names_that_cannot_be_checked_are_taken_with_a_note() -> None:
    variable = require_known("UCX_DC_MLX5_NUM_DCI", small())
    assert (variable.kind, variable.scope) == ("env", "launch")
    assert "could not be checked" in variable.source
    parameter = require_known("coll_adapt_algorithm_shown_nowhere", small())
    assert parameter.kind == "mca"
    assert "could not be checked" in parameter.source
    with pytest.raises(UserError, match="not a parameter known here"):
        require_known("nothing_of_this_kind", small())


@pytest.mark.mpi
@pytest.mark.beside
@pytest.mark.parametrize("launcher", ["embedded", "/usr/bin/mpirun"])
def test_any_parameter_of_the_installed_mpi_and_ucx(launcher: str) -> None:
    path = embedded_mpirun() if launcher == "embedded" else launcher
    try:
        machine = describe(path)
    except UserError as error:
        pytest.skip(str(error))
    parameter = require_known("coll_tuned_bcast_algorithm_knomial_radix", machine)
    assert parameter.default == "4"
    assert "radix" in parameter.meaning
    assert require_known("UCX_TCP_NODELAY", machine).source == "listed by this UCX"
    for wrong, close in (
        ("coll_tuned_bcast_algorithm_knomial_radixx", "radix"),
        ("UCX_TCP_NODELAYS", "UCX_TCP_NODELAY"),
    ):
        with pytest.raises(UserError, match=close):
            require_known(wrong, machine)
