"""`render`, `validate`, `explain` and `crds`, as a person calls them."""

import json

import pytest
import yaml

from kfp_trainer.runtime_operator.cli.main import run

RUNTIME = """
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {name: torch}
spec:
  mlPolicy: {torch: {}}
  template:
    spec:
      replicatedJobs:
      - name: node
        template:
          metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}
          spec: {template: {spec: {containers: [{name: node, image: lab.example/train:1}]}}}
"""
JOB = """
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: bert, namespace: lab}
spec:
  runtimeRef: {name: torch}
  trainer: {numNodes: 2, numProcPerNode: 4, command: [torchrun, train.py]}
"""
OLD_JOB = JOB.replace("v1alpha1", "v2alpha1")
BAD_JOB = JOB.replace("numNodes: 2", "numNodes: 0")
MISSPELT = JOB.replace("numNodes", "numNoods")
SUSPENDED = JOB.replace("spec:", "spec:\n  suspend: true")


@pytest.fixture
def file(tmp_path):
    def of(*documents):
        path = tmp_path / "job.yaml"
        path.write_text("---".join(documents))
        return str(path)

    return of


@pytest.fixture
def call(capsys):
    def of(*arguments):
        code = run(list(arguments))
        out, err = capsys.readouterr()
        return code, out, err

    return of


def test_render_prints_the_objects_in_the_order_in_which_they_are_applied(file, call):
    code, out, err = call("render", "-f", file(RUNTIME, JOB))
    assert [each["kind"] for each in yaml.safe_load_all(out)] == ["ConfigMap", "JobSet"]
    assert (code, err) == (0, "")


RUNNING = """
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: bert, namespace: lab}
spec: {suspend: false, replicatedJobs: []}
"""


def test_render_leaves_alone_what_the_operator_leaves_alone(file, call):
    code, out, err = call("render", "-f", file(RUNTIME, RUNNING, JOB))
    assert [each["kind"] for each in yaml.safe_load_all(out)] == ["ConfigMap"]
    assert (code, err) == (0, "left alone: JobSet bert\n")


def test_render_prints_json_for_programs(file, call):
    code, out, _ = call("render", "-f", file(RUNTIME, JOB), "-o", "json")
    jobset = json.loads(out)[-1]
    (node,) = jobset["spec"]["replicatedJobs"]
    assert node["template"]["spec"]["parallelism"] == 2
    assert code == 0


def test_several_files_are_one_heap(file, call, tmp_path):
    (tmp_path / "runtime.yaml").write_text(RUNTIME)
    code, out, _ = call("render", "-f", file(JOB), "-f", str(tmp_path / "runtime.yaml"))
    assert (code, out.count("kind: JobSet")) == (0, 1)


def test_a_warning_goes_to_stderr(file, call):
    code, out, err = call("render", "-f", file(RUNTIME, OLD_JOB))
    assert err.startswith("warning: DeprecatedVersion: apiVersion:")
    assert [each["kind"] for each in yaml.safe_load_all(out)] == ["ConfigMap", "JobSet"]
    assert code == 0


REFUSED = {
    "a rule of the schema": (
        [RUNTIME, BAD_JOB],
        ["TrainJob/bert: spec.trainer.numNodes: spec.trainer.numNodes in body should be greater than"],
    ),
    "an unknown field": (
        [RUNTIME, MISSPELT],
        ["TrainJob/bert: spec.trainer.numNoods: unknown field: did you mean 'numNodes'?"],
    ),
    "a runtime that is not there": (
        [JOB.replace("name: torch}", "name: touch}")],
        ['TrainJob/bert: spec.RuntimeRef: clustertrainingruntimes.trainer.kubeflow.org "touch" not found'],
    ),
    "a runtime that is refused, told once although two jobs refer to it": (
        [
            RUNTIME.replace("name: node,", "name: main,", 1).replace("image", "imag"),
            JOB,
            JOB.replace("bert", "gpt"),
        ],
        ["ClusterTrainingRuntime/torch: spec.template.spec.replicatedJobs[0].template.spec.template"],
    ),
    "an update of what cannot be changed": (
        [RUNTIME, JOB, JOB.replace("numNodes: 2", "numNodes: 3")],
        ["TrainJob/bert: spec.trainer: field is immutable"],
    ),
    "no TrainJob": (
        [RUNTIME],
        ["FILE: no job in it, but ClusterTrainingRuntime; add one, or name another"],
    ),
    "broken YAML": (
        ["kind: [\n"],
        ["FILE:2:1: while parsing a flow node did not find expected node content"],
    ),
}


@pytest.mark.parametrize("verb", ["render", "explain"])
@pytest.mark.parametrize("sentence", REFUSED)
def test_a_refusal_is_one_line_an_error(sentence, verb, file, call):
    documents, want = REFUSED[sentence]
    path = file(*documents)
    code, out, err = call(verb, "-f", path)
    lines = err.replace(path, "FILE").splitlines()
    assert (code, out, len(lines)) == (2, "", len(want))
    for line, beginning in zip(lines, want, strict=True):
        assert line.startswith(f"kfp-trainer: {beginning}")


@pytest.mark.parametrize("verb", ["render", "validate", "explain"])
def test_a_refusal_is_data_for_programs(verb, file, call):
    code, out, err = call(verb, "-f", file(RUNTIME, BAD_JOB.replace("v1alpha1", "v2alpha1")), "-o", "json")
    told = json.loads(out)
    assert told["errors"] == [
        {
            "field": "spec.trainer.numNodes",
            "type": "FieldValueInvalid",
            "detail": "spec.trainer.numNodes in body should be greater than or equal to 1",
        }
    ]
    assert [warning.partition(":")[0] for warning in told["warnings"]] == ["DeprecatedVersion"]
    assert (code, err) == (2, "")


def test_broken_yaml_is_data_for_programs(file, call):
    path = file("a: [\n")
    code, out, _ = call("validate", "-f", path, "-o", "json")
    (error,) = json.loads(out)["errors"]
    assert error["detail"].startswith(f"{path}:2:1: ")
    assert code == 2


def test_validate_says_what_is_right(file, call):
    assert call("validate", "-f", file(RUNTIME, JOB)) == (
        0,
        "ClusterTrainingRuntime/torch is right\nTrainJob/bert is right\n",
        "",
    )


def test_validate_takes_a_runtime_alone(file, call):
    assert call("validate", "-f", file(RUNTIME)) == (0, "ClusterTrainingRuntime/torch is right\n", "")


def test_validate_wants_something_of_ours(file, call):
    code, _, err = call("validate", "-f", file("kind: Secret\nmetadata: {name: a}\n"))
    assert (code, "no job in it" in err) == (2, True)


def test_validate_tells_programs_that_all_is_right(file, call):
    code, out, _ = call("validate", "-f", file(RUNTIME, JOB), "-o", "json")
    assert (code, json.loads(out)) == (0, {"errors": [], "warnings": []})


def test_data_may_be_yaml_as_well(file, call):
    path = file(RUNTIME, JOB)
    _, out, _ = call("validate", "-f", path, "-o", "yaml")
    assert yaml.safe_load(out) == {"errors": [], "warnings": []}
    _, out, _ = call("explain", "-f", path, "-o", "yaml")
    assert yaml.safe_load(out)["job"] == "bert"


def test_explain_draws_without_colour_where_nobody_looks(file, call):
    code, out, _ = call("explain", "-f", file(RUNTIME, JOB))
    assert "  1  node  2 pods, trains, 4 processes in each\n" in out
    assert (code, "\x1b" in out) == (0, False)


def test_explain_is_data_for_programs(file, call):
    code, out, _ = call("explain", "-f", file(RUNTIME, SUSPENDED), "-o", "json")
    (story,) = json.loads(out)
    assert (story["job"], story["suspended"], story["pods"][0]["count"]) == ("bert", True, 2)
    assert code == 0


def test_explain_warns_of_the_habits_of_the_job_s_own_runtime(file, call):
    old = RUNTIME.replace("v1alpha1", "v2alpha1")
    other = old.replace("name: torch}", "name: other}")
    _, out, _ = call("explain", "-f", file(old, other, JOB))
    assert out.count("! DeprecatedVersion") == 1


def test_upstreams_faults_are_to_be_had(file, call):
    code, out, err = call("render", "-f", file(RUNTIME, MISSPELT), "--compat", "upstream")
    assert err == "warning: spec.trainer.numNoods: unknown field, dropped\n"
    assert (code, out.count("kind: JobSet")) == (0, 1)


def test_a_shipped_runtime_serves_where_the_file_has_none(file, call):
    code, out, _ = call("render", "-f", file(JOB.replace("name: torch}", "name: torch-distributed}")))
    assert (code, out.count("kind: JobSet")) == (0, 1)


KINDS = ["ClusterTrainingRuntime", "TrainingRuntime", "TrainJob"]


def test_crds_prints_the_three_definitions(call):
    code, out, _ = call("crds")
    assert [each["spec"]["names"]["kind"] for each in yaml.load_all(out, Loader=yaml.CSafeLoader)] == KINDS
    assert code == 0


def test_crds_prints_json_for_programs(call):
    code, out, _ = call("crds", "-o", "json")
    assert [each["spec"]["names"]["kind"] for each in json.loads(out)] == KINDS
    assert code == 0


OLDER = """
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: ddp, namespace: lab}
spec:
  pytorchReplicaSpecs:
    Master: {template: {spec: {containers: [{name: pytorch, image: lab.example/train:1}]}}}
    Worker: {replicas: 3, template: {spec: {containers: [{name: pytorch, image: lab.example/train:1}]}}}
"""


def test_a_job_of_an_older_kind_is_rendered_beside_a_trainjob(file, call):
    code, out, err = call("render", "-f", file(RUNTIME, JOB, OLDER))
    kinds = [each["kind"] for each in yaml.safe_load_all(out)]
    assert (code, err, kinds) == (0, "", ["ConfigMap", "JobSet", *["Service"] * 4, "JobSet"])


def test_a_job_of_an_older_kind_is_explained(file, call):
    code, out, _ = call("explain", "-f", file(OLDER))
    assert (code, out.splitlines()[0]) == (0, "PyTorchJob ddp in namespace lab")
    assert "found at ddp-worker-0 … ddp-worker-2" in out


def test_a_large_job_of_an_older_kind_is_explained_on_a_page(file, call):
    large = OLDER.replace("PyTorch", "TF").replace("pytorchReplicaSpecs", "tfReplicaSpecs")
    large = large.replace("name: pytorch,", "name: tensorflow,").replace("replicas: 3", "replicas: 3000")
    code, out, _ = call("explain", "-f", file(large))
    assert (code, len(out) < 4000) == (0, True)
    told = " ".join(out.split())
    assert "becomes Service ddp-master-0, Service ddp-worker-0 … ddp-worker-2999, JobSet ddp" in told
    assert "characters; `render` prints all)" in told


def test_a_job_of_an_older_kind_is_refused_like_any_other(file, call):
    misspelt = OLDER.replace("replicas: 3", "replicsa: 3")
    path = "PyTorchJob/ddp: spec.pytorchReplicaSpecs.Worker.replicsa"
    code, _, err = call("validate", "-f", file(misspelt))
    assert (code, err) == (2, f"kfp-trainer: {path}: unknown field: did you mean 'replicas'?\n")
    code, _, err = call("validate", "-f", file(OLDER.replace("replicas: 3", "replicas: 0")))
    path = "PyTorchJob/ddp: spec.pytorchReplicaSpecs[Worker].replicas"
    assert (code, err) == (2, f"kfp-trainer: {path}: must be at least 1\n")


MPI = """
apiVersion: kubeflow.org/v1
kind: MPIJob
metadata: {name: pi}
spec:
  sshAuthMountPath: /root/.ssh
  mpiReplicaSpecs:
    Launcher: {template: {spec: {containers: [{name: mpi, image: lab.example/pi:1}]}}}
"""


def test_a_field_of_the_other_version_of_mpijobs(file, call):
    code, _, err = call("validate", "-f", file(MPI))
    told = "kubeflow.org/v1 has no such field, but kubeflow.org/v2beta1 has; remove it, or change apiVersion"
    assert (code, err) == (2, f"kfp-trainer: MPIJob/pi: spec.sshAuthMountPath: {told}\n")


NO_JOB = {
    "a kind that is misspelt": (
        OLDER.replace("PyTorch", "Pytorch"),
        "but PytorchJob; did you mean PyTorchJob?",
    ),
    "a kind of somebody else": (
        "apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\n",
        "but Job; add one, or name another file",
    ),
}


@pytest.mark.parametrize("sentence", NO_JOB)
@pytest.mark.parametrize(("verb", "wanted"), [("validate", "job"), ("convert", "job of an older kind")])
def test_a_file_without_a_job(sentence, verb, wanted, file, call):
    document, told = NO_JOB[sentence]
    path = file(document)
    code, _, err = call(verb, "-f", path)
    assert (code, err) == (2, f"kfp-trainer: {path}: no {wanted} in it, {told}\n")


OLDER_REFUSED = {
    "a value that is not known is told": (
        OLDER.replace("replicas: 3", "restartPolicy: Sometimes"),
        "spec.pytorchReplicaSpecs[Worker].restartPolicy: "
        'supported values: "Always", "ExitCode", "Never", "OnFailure"; got \'Sometimes\'',
    ),
    "so is one that the schema knows": (
        OLDER.replace("spec:\n", "spec:\n  runPolicy: {cleanPodPolicy: Runing}\n", 1),
        'spec.runPolicy.cleanPodPolicy: supported values: "All", "None", "Running"; got \'Runing\'',
    ),
    "of a role its name stands in the path": (
        OLDER.replace("Master", "Chief"),
        'spec.pytorchReplicaSpecs[Chief]: supported values: "Master", "Worker"',
    ),
    "what is missing is said to be": (
        OLDER.replace("containers:", "initContainers:", 1),
        "spec.pytorchReplicaSpecs.Master.template.spec.containers: required: give it a value",
    ),
    "so is what is there twice": (
        OLDER.replace("image:", "env: [{name: A, value: b}, {name: A, value: c}], image:", 1),
        "spec.pytorchReplicaSpecs[Master].template.spec.containers[0].env[1]: is there twice: leave one out",
    ),
}


@pytest.mark.parametrize("sentence", OLDER_REFUSED)
@pytest.mark.parametrize("verb", ["validate", "convert"])
def test_what_is_wrong_with_a_job_of_an_older_kind(sentence, verb, file, call):
    document, want = OLDER_REFUSED[sentence]
    code, _, err = call(verb, "-f", file(document))
    assert (code, err.splitlines()[0]) == (2, f"kfp-trainer: PyTorchJob/ddp: {want}")


def test_a_change_of_a_job_of_an_older_kind_is_judged_as_one(file, call):
    managed = OLDER.replace("spec:\n", "spec:\n  runPolicy: {managedBy: kueue.x-k8s.io/multikueue}\n", 1)
    code, _, err = call("validate", "-f", file(OLDER, managed))
    assert (code, "spec.runPolicy.managedBy: field is immutable" in err) == (2, True)
    code, _, err = call("validate", "-f", file(managed))
    assert (code, "here nothing is built" in err) == (0, True)
