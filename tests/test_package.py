"""The package as a whole: what it imports, documents and ships."""

import ast
import email.message
import importlib
import importlib.metadata
import inspect
import operator
import os
import re
import runpy
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
import sklearn
from sklearn.utils import discovery
from sklearn.utils.fixes import parse_version

import sklearn_sl
from sklearn_sl._discovery import public_modules, public_objects

ROOT = Path(__file__).parents[1]
SOURCE = Path(sklearn_sl.__file__).parent
PUBLIC = public_objects()
# Bases to inherit from: an example would be an estimator or a kernel.
ABSTRACT = {"sklearn_sl.base.EstimatorMixin", "sklearn_sl.kernels.Kernel"}

for_every_public_object = pytest.mark.parametrize("name", PUBLIC)


def modules_after(statement):
    """Return the modules that a statement loads in a new interpreter, one name per line."""
    program = f"import sys; before = set(sys.modules)\n{statement}\n"
    program += "print(*sorted(set(sys.modules) - before), sep='\\n')"
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT
    )
    return set(run.stdout.split())


def distributions(modules):
    """Return the names of the installed distributions that ``modules`` belong to."""
    owners = importlib.metadata.packages_distributions()
    return {owner for module in modules for owner in owners.get(module.split(".")[0], [])}


# Modules that other distributions bring under another name, and packages that are needed by one
# option of a method only, which says what to install.
DISTRIBUTIONS = {"sklearn": "scikit-learn"}
OPTIONAL = {"matplotlib", "networkx", "pandas", "pyamg", "skops"}


def imported_packages():
    """Return the packages, not of the standard library, that the sources import."""
    nodes = [
        node for path in SOURCE.rglob("*.py") for node in ast.walk(ast.parse(path.read_text()))
    ]
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in nodes if isinstance(node, ast.ImportFrom)}
    tops = {name.partition(".")[0] for name in names}
    return tops - sys.stdlib_module_names - {"sklearn_sl"}


def test_every_import_is_declared():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needed = {re.match(r"[\w-]+", each)[0] for each in project["dependencies"]}
    tested = {re.match(r"[\w-]+", each)[0] for each in project["optional-dependencies"]["test"]}
    imported = {DISTRIBUTIONS.get(name, name) for name in imported_packages()}
    assert imported - OPTIONAL == needed
    assert OPTIONAL <= imported & tested


def test_pre_commit_runs_the_linters_of_make_lint():
    hooks = (ROOT / ".pre-commit-config.yaml").read_text()
    lines = (
        (ROOT / "Makefile").read_text().partition("\nlint:")[2].partition("\n\n")[0].splitlines()
    )
    commands = [re.sub(r".*-m | --check| \.$| sklearn_sl$", "", line.strip()) for line in lines[1:]]
    assert set(commands) == {"ruff check", "ruff format", "cython-lint", "mypy"}
    assert all(f"entry: {command}" in hooks for command in commands)


@pytest.mark.parametrize("page", ["CONTRIBUTING.rst", "doc/design.rst"])
def test_pages_for_contributors_name_what_is_there(page):
    text = (ROOT / page).read_text()
    made = ("build", "results", "vX")  # what is there after a run only
    paths = re.findall(r"``([\w.]+(?:/[\w.]+)+/?)``", text)
    paths = [path for path in paths if path.split("/")[0] not in made]
    everything = {
        str(path)
        for folder in ("sklearn_sl", "tests", "doc", "benchmarks")
        for path in (ROOT / folder).rglob("*")
    }
    missing = [
        path for path in paths if not any(p.endswith(f"/{path.rstrip('/')}") for p in everything)
    ]
    targets = set(re.findall(r"make (?:lint )?(test[\w-]*|lint|doc|demo|bench|clean)", text))
    known = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    assert paths and not missing
    assert targets and targets <= known


def test_importing_the_package_imports_nothing_else():
    # An editable installation has loaded importlib at the start, a wheel has not.
    loaded = modules_after("import sklearn_sl") - modules_after("import importlib.machinery")
    assert loaded == {"sklearn_sl"}


def test_public_modules_import_what_scikit_learn_imports_and_nothing_else():
    ours = modules_after("\n".join(f"import {module.__name__}" for module in public_modules()))
    theirs = modules_after("import sklearn.gaussian_process, sklearn.model_selection")
    assert distributions(ours) <= distributions(theirs) | {"sklearn-sl"}


def test_subpackages_are_imported_when_they_are_used():
    used = modules_after("import sklearn_sl; sklearn_sl.tree")
    assert "sklearn_sl.tree" in used
    assert "sklearn_sl.svm" not in used
    assert set(dir(sklearn_sl)) == {*sklearn_sl.__all__}
    with pytest.raises(AttributeError, match="no attribute 'forest'"):
        _ = sklearn_sl.forest


def test_all_public_modules_are_names_of_the_package():
    names = {module.__name__.removeprefix("sklearn_sl.") for module in public_modules()}
    assert {name for name in names if "." not in name} <= {*sklearn_sl.__all__}


def test_a_tree_that_is_not_compiled_says_how_to_compile_it(tmp_path):
    (tmp_path / "sklearn_sl").mkdir()
    shutil.copy(Path(sklearn_sl.__file__), tmp_path / "sklearn_sl")
    command = [sys.executable, "-c", "import sklearn_sl"]
    path = {**os.environ, "PYTHONPATH": str(tmp_path)}
    failed = subprocess.run(command, cwd=tmp_path, env=path, capture_output=True, text=True)
    assert failed.returncode == 1
    assert "pip install --editable ." in failed.stderr.splitlines()[-1]


def test_all_estimators_are_found_by_kind():
    everything = sklearn_sl.all_estimators()
    assert everything == sorted(everything, key=lambda pair: pair[0])
    assert dict(everything)["SVC"] is sklearn_sl.svm.SVC
    kinds = ["classifier", "regressor"]
    both = sklearn_sl.all_estimators(kinds)
    assert {*both} == {pair for kind in kinds for pair in sklearn_sl.all_estimators(kind)}
    assert "SVR" not in dict(sklearn_sl.all_estimators("classifier"))
    with pytest.raises(ValueError, match=r"type_filter must be None or .*'trees'"):
        sklearn_sl.all_estimators("trees")


def test_versions_name_what_the_package_runs_with(capsys):
    sklearn_sl.show_versions()
    shown = capsys.readouterr().out
    assert f"sklearn_sl: {sklearn_sl.__version__}" in shown
    assert f"numpy: {importlib.metadata.version('numpy')}" in shown
    assert "num_threads" in shown


def test_html_links_to_the_site_that_the_metadata_name(monkeypatch):
    model = sklearn_sl.svm.SVC()
    monkeypatch.setattr(sklearn_sl.base, "documentation_url", lambda: None)
    assert model._get_doc_link() == ""
    assert 'sk-estimator-doc-link fitted" rel' not in model._repr_html_()
    monkeypatch.setattr(sklearn_sl.base, "documentation_url", lambda: "https://example.org/stable")
    assert 'href="https://example.org/stable/generated/sklearn_sl.svm.SVC.html"' in (
        model._repr_html_()
    )


def test_html_links_to_the_site_that_was_built_in_the_source_tree(monkeypatch, tmp_path):
    address = sklearn_sl.base.documentation_url.__wrapped__
    monkeypatch.setattr(importlib.metadata, "metadata", lambda name: email.message.Message())
    monkeypatch.setattr(sklearn_sl.base, "__file__", str(tmp_path / "sklearn_sl" / "base.py"))
    assert address() is None
    site = tmp_path / "doc" / "_build" / "html"
    site.mkdir(parents=True)
    (site / "index.html").touch()
    assert address() == site.as_uri()


def test_html_of_a_fitted_model_shows_its_certificates():
    shown = sklearn_sl.svm.SVC().fit([[0], [1]], [0, 1])._repr_html_()
    fitted_attributes = parse_version(sklearn.__version__) >= parse_version("1.9")
    assert ("duality_gap_" in shown) == fitted_attributes


def test_missing_probabilities_come_with_what_to_use_instead():
    X, y = [[0], [1]], [0, 1]
    for cls, advice in [
        (sklearn_sl.svm.SVC, "CalibratedClassifierCV"),
        (sklearn_sl.online.Perceptron, "CalibratedClassifierCV"),
        (sklearn_sl.ensemble.DecisionStump, "use predict"),
    ]:
        model = cls().fit(X, y)
        assert not hasattr(model, "predict_proba")
        with pytest.raises(AttributeError, match=f"'{cls.__name__}'.*'predict_proba'.*{advice}"):
            model.predict_proba(X)
    with pytest.raises(AttributeError, match=r"'predict_prob'$"):
        operator.attrgetter("predict_prob")(sklearn_sl.svm.SVC())
    with pytest.raises(AttributeError, match=r"'predict_proba'$"):
        operator.attrgetter("predict_proba")(sklearn_sl.svm.SVR())


def test_version_is_that_of_the_metadata():
    assert sklearn_sl.__version__ == importlib.metadata.version("sklearn-sl")


def test_package_says_that_it_is_typed():
    assert Path(sklearn_sl.__file__).with_name("py.typed").is_file()


# ---------------------------------------------------------------- documentation


@pytest.fixture(scope="module")
def lists():
    """Return what doc/lists.py defines."""
    return runpy.run_path(str(ROOT / "doc" / "lists.py"))


def test_lists_of_public_names_are_up_to_date(lists):
    readme = (ROOT / "README.rst").read_text()
    assert (ROOT / "doc" / "api.rst").read_text() == lists["reference"](), "python doc/lists.py"
    assert readme == lists["with_table"](readme), "python doc/lists.py"
    assert all(f"   {name.rpartition('.')[2]}\n" in lists["reference"]() for name in PUBLIC)


def test_page_for_users_of_scikit_learn_is_up_to_date_and_has_each_class(lists):
    page = ROOT / "doc" / "guide" / "migration.rst"
    assert page.read_text() == lists["migration_page"](), "python doc/lists.py"
    theirs = dict(discovery.all_estimators())
    shared = {name for name, _ in sklearn_sl.all_estimators() if name in theirs}
    groups = lists["migration_groups"]()
    assert sorted(name for group in groups for name in group["names"]) == sorted(shared)
    for group in groups:
        for name in group["names"]:
            for where in group["from"], group["to"]:
                assert hasattr(importlib.import_module(where), name)


def test_page_of_benchmarks_is_up_to_date():
    script = runpy.run_path(str(ROOT / "doc" / "benchmarks.py"))
    recorded = script["records"]()
    assert script["PAGE"].read_text() == script["page"](recorded), "python doc/benchmarks.py"
    assert script["FIGURE"].read_text() == script["figure"](recorded), "python doc/benchmarks.py"


def test_numbers_of_the_readme_are_those_that_were_recorded():
    readme = (ROOT / "README.rst").read_text()
    script = runpy.run_path(str(ROOT / "doc" / "benchmarks.py"))
    recorded = script["records"]()

    def times(topic, job, theirs="scikit-learn"):
        return 1 / script["ratio_of"](recorded, topic, job, theirs)

    tree, boosting = times("tree", "classification-n500000"), times("ensemble", "adaboost")
    assert f"Trees {tree:.0f} times, AdaBoost {boosting:.0f} times" in readme
    assert f"machines {times('svm', 'rbf-C10-n20000'):.0f} times as fast" in readme
    assert f"1/{times('kernel_ridge', 'select', 'GridSearchCV n_jobs=1'):.0f} of the time" in readme
    groups = runpy.run_path(str(ROOT / "doc" / "lists.py"))["migration_groups"]()
    assert f"{sum(len(group['names']) for group in groups)} classes of scikit-learn's" in readme
    theory = (ROOT / "doc" / "theory.rst").read_text()
    n_statements = theory.count("\n   * - ") - theory.count(":header-rows: 1")
    assert f"{n_statements} theorems" in readme
    assert len(readme.split()) < 700


def sections(docstring):
    """Return the sections of a numpydoc docstring: ``{title: text}``."""
    parts = re.split(r"^(\w[\w ]*)\n-{3,}$", docstring, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def documented_parameters(item):
    """Return the names in the Parameters section of an object's docstring."""
    text = sections(inspect.getdoc(item)).get("Parameters", "")
    groups = re.findall(r"^([*\w][*\w, ]*) :", text, flags=re.MULTILINE)
    return [name.strip(" *") for group in groups for name in group.split(",")]


def parameters(item):
    """Return the names of the parameters of a function, or of a class's constructor."""
    if inspect.isclass(item) and item.__init__ is object.__init__:
        return []
    return list(inspect.signature(item).parameters)


@for_every_public_object
def test_docstring_has_each_parameter_in_order(name):
    assert documented_parameters(PUBLIC[name]) == parameters(PUBLIC[name])


@for_every_public_object
def test_docstring_has_an_example(name):
    assert name in ABSTRACT or ">>> " in sections(inspect.getdoc(PUBLIC[name])).get("Examples", "")


def own_methods(item):
    """Return the public methods that the package gives to a class."""
    return {
        f"{owner.__qualname__}.{name}": method
        for owner in inspect.getmro(item)
        if owner.__module__.startswith("sklearn_sl.")
        for name, method in vars(owner).items()
        if inspect.isfunction(method) and not name.startswith("_")
    }


@for_every_public_object
def test_every_public_method_has_a_docstring(name):
    methods = own_methods(PUBLIC[name]) if inspect.isclass(PUBLIC[name]) else {}
    assert [method for method, item in methods.items() if not item.__doc__] == []


# ---------------------------------------------------------------- distribution


def run(*command, **kwargs):
    """Run a command that must succeed and return what it prints."""
    return subprocess.run(
        list(map(str, command)), check=True, stdout=subprocess.PIPE, text=True, **kwargs
    ).stdout


@pytest.fixture(scope="module")
def venv_python(tmp_path_factory):
    """Return the interpreter of a new virtual environment."""
    folder = tmp_path_factory.mktemp("environment")
    run(sys.executable, "-m", "venv", folder)
    return folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"


@pytest.fixture(scope="module")
def dist(tmp_path_factory, venv_python):
    """Return the folder of the sdist, and of the wheel built from it, of a clean checkout."""
    checkout = tmp_path_factory.mktemp("checkout")
    for name in run("git", "ls-files", "-co", "--exclude-standard", cwd=ROOT).splitlines():
        if (ROOT / name).is_file():
            (checkout / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, checkout / name)
    run(venv_python, "-m", "pip", "install", "--quiet", "build")
    run(venv_python, "-m", "build", checkout)
    return checkout / "dist"


def suffixes(names):
    """Return the file extensions among ``names``."""
    return {Path(name).suffix for name in names}


@pytest.mark.slow
def test_sdist_holds_the_sources_and_nothing_built(dist):
    with tarfile.open(*dist.glob("*.tar.gz")) as archive:
        names = archive.getnames()
    assert suffixes(names).isdisjoint({".c", ".so", ".pyd", ".pyc"})
    for name in "tests/conftest.py", "sklearn_sl/_dispatch.h":
        assert any(held.endswith(name) for held in names)


@pytest.mark.slow
def test_wheel_holds_the_built_modules_and_no_sources_of_them(dist):
    with zipfile.ZipFile(*dist.glob("*.whl")) as archive:
        names = archive.namelist()
    assert suffixes(names).isdisjoint({".c", ".h", ".pyx", ".pxd"})
    assert "sklearn_sl/py.typed" in names
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {"sklearn_sl"}
    built = {name.split(".")[0] for name in names if name.endswith((".so", ".pyd"))}
    sources = {path.relative_to(ROOT) for path in (ROOT / "sklearn_sl").rglob("*.pyx")}
    assert built == {path.with_suffix("").as_posix() for path in sources}


@pytest.mark.slow
def test_wheel_installs_and_imports_in_a_new_environment(dist, venv_python, tmp_path):
    run(venv_python, "-m", "pip", "install", "--quiet", "--no-deps", *dist.glob("*.whl"))
    where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site_packages = Path(run(venv_python, "-c", where).strip())
    (site_packages / "closure.pth").write_text(sysconfig.get_path("purelib"))
    imports = "".join(f"import {module.__name__}; " for module in public_modules())
    location = run(
        venv_python, "-c", f"{imports}import sklearn_sl; print(sklearn_sl.__file__)", cwd=tmp_path
    )
    assert Path(location.strip()).is_relative_to(site_packages)


def test_every_test_that_the_theory_table_names_exists():
    named = re.findall(r"``(tests/[\w/]+\.py)::(\w+)``", (ROOT / "doc/theory.rst").read_text())
    assert named
    assert not [name for path, name in named if f"def {name}(" not in (ROOT / path).read_text()]
