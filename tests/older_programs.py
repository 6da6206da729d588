"""Programs of real frameworks as people run them in jobs of the older kinds, with the variables of v1."""

LINE = """
import sys, torch, torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(rank)
model = DistributedDataParallel(torch.nn.Linear(1, 1, bias=False))
optimiser = torch.optim.SGD(model.parameters(), lr=0.2)
for _ in range(40):
    x = torch.randn(32, 1)
    loss = ((model(x) - 3 * x) ** 2).mean()
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
sys.stdout.write(f"rank {rank} of {world} has weight {model.module.weight.item():.2f}\\n")
sys.stdout.flush()
dist.barrier()  # the job ends with its master: nobody may end before all have spoken
dist.destroy_process_group()
"""
"""fits y = 3x over all ranks; says the same weight in each"""

LOSS_AND_RETURN = """
import os, signal, sys, time, torch, torch.distributed as dist
lost, alone = (f"{os.environ['SHARED']}/{name}" for name in ("lost", "alone"))
dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
was_lost = os.path.exists(lost)
for step in range(1, 1000):
    value = torch.ones(1)
    dist.all_reduce(value)
    if rank == 0:
        sys.stdout.write(f"together {value.item():.0f}\\n")
        sys.stdout.flush()
    if was_lost and world == 2:
        open(alone, "w").close()
    if world == 3 and step == 3:
        if was_lost:
            break
        if "worker-2" in os.environ["POD_NAME"]:
            open(lost, "w").close()
            os.kill(os.getppid(), signal.SIGKILL)
            os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.2)
dist.destroy_process_group()
"""
"""three workers count together; one is killed with its agent, the others go on, until it is back"""

ELASTIC_START = """
while [ -e "$SHARED/lost" ] && [ ! -e "$SHARED/alone" ]; do sleep 0.1; done
exec torchrun --no-python python -c "$PROGRAM"
"""
"""a worker that was lost comes back when the others have gone on without it"""
ELASTIC_POLICY = {
    "minReplicas": 2,
    "maxReplicas": 4,
    "maxRestarts": 10,
    "rdzvBackend": "c10d",
    "rdzvId": "line",
    "rdzvConf": [
        {"key": "join_timeout", "value": "120"},
        {"key": "last_call_timeout", "value": "2"},
        {"key": "keep_alive_interval", "value": "1"},
        {"key": "keep_alive_max_attempt", "value": "5"},
    ],
}


def elastic_env(shared: str) -> list[dict[str, object]]:
    """The variables of its own that an elastic worker needs."""
    name = {"fieldRef": {"fieldPath": "metadata.name"}}
    return [
        {"name": "SHARED", "value": shared},
        {"name": "PROGRAM", "value": LOSS_AND_RETURN},
        {"name": "OMP_NUM_THREADS", "value": "1"},
        # or agents that stay tell one that comes anew no address, and it waits in vain
        {"name": "TORCH_DISABLE_SHARE_RDZV_TCP_STORE", "value": "1"},
        {"name": "POD_NAME", "valueFrom": name},
    ]


XGBOOST = """
import os, socket, sys, time, numpy, xgboost
from xgboost import collective
from xgboost.tracker import RabitTracker
rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
where, port = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
if rank == 0:
    tracker = RabitTracker(host_ip=socket.gethostbyname(where), n_workers=world, port=port, sortby="task")
    tracker.start()
told = dict(dmlc_tracker_uri=where, dmlc_tracker_port=port, dmlc_task_id=str(rank), dmlc_retry=20)
with collective.CommunicatorContext(**told):
    columns = numpy.random.default_rng(rank).normal(size=(200, 2))
    rows = xgboost.DMatrix(columns, label=columns.sum(axis=1) > 0)
    asked = {"tree_method": "hist", "objective": "binary:logistic", "nthread": 1}
    model = xgboost.train(asked, rows, 5)
    right = ((model.predict(rows) > 0.5) == rows.get_label()).mean()
    where = f"{collective.get_rank()} of {collective.get_world_size()}"
    sys.stdout.write(f"rank {where}: {model.num_boosted_rounds()} rounds, right {right > 0.8}\\n")
    sys.stdout.flush()
    collective.allreduce(numpy.ones(1), collective.Op.SUM)  # nobody ends before all have spoken
"""

JAX = """
import os, sys, jax
from jax.experimental.multihost_utils import process_allgather
jax.config.update("jax_cpu_collectives_implementation", "gloo")
where = f"{os.environ['COORDINATOR_ADDRESS']}:{os.environ['COORDINATOR_PORT']}"
jax.distributed.initialize(where, int(os.environ["NUM_PROCESSES"]), int(os.environ["PROCESS_ID"]))
x = jax.random.normal(jax.random.key(jax.process_index()), (32,))
slope = jax.grad(lambda weight: ((weight * x - 3 * x) ** 2).mean())
weight = 0.0
for _ in range(30):
    weight -= 0.2 * float(process_allgather(slope(weight)).mean())
sys.stdout.write(f"process {jax.process_index()} of {jax.process_count()} has weight {weight:.2f}\\n")
"""

TENSORFLOW = """
import json, os, sys
import tensorflow as tf
strategy = tf.distribute.MultiWorkerMirroredStrategy()
task = json.loads(os.environ["TF_CONFIG"])["task"]
with strategy.scope():
    weight = tf.Variable(0.0, aggregation=tf.VariableAggregation.MEAN)
rows = tf.random.stateless_normal([32], seed=[task["index"], 0])
def step():
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((weight * rows - 3 * rows) ** 2)
    weight.assign_sub(0.2 * tape.gradient(loss, weight))
train = tf.function(lambda: strategy.run(step))
for _ in range(30):
    train()
sys.stdout.write(f"{task['index']} of {strategy.num_replicas_in_sync} has weight {weight.numpy():.2f}\\n")
"""
