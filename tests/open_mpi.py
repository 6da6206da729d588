"""Programs for mpirun that need no more than Open MPI or MPICH itself."""

ALL_REDUCE = """
import ctypes, ctypes.util, socket, sys
mpi = ctypes.CDLL(ctypes.util.find_library("mpi") or "libmpi.so.40", mode=ctypes.RTLD_GLOBAL)
world, kind, plus = (ctypes.byref(ctypes.c_char.in_dll(mpi, name)) for name in
                     ("ompi_mpi_comm_world", "ompi_mpi_int", "ompi_mpi_op_sum"))
mpi.MPI_Init(None, None)
rank, mine, total = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
mpi.MPI_Comm_rank(world, ctypes.byref(rank))
mine.value = rank.value + 1
mpi.MPI_Allreduce(ctypes.byref(mine), ctypes.byref(total), 1, kind, plus, world)
sys.stdout.write(f"rank {rank.value} on {socket.gethostname()}: {total.value}\\n")
mpi.MPI_Finalize()
"""
"""The sum over all ranks, through the library itself, since no binding of it is installed."""

ALL_REDUCE_OF_MPICH = """
import ctypes, socket, sys
mpi = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
world, kind, plus = 0x44000000, 0x4C000405, 0x58000003
mpi.MPI_Init(None, None)
rank, mine, total = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
mpi.MPI_Comm_rank(world, ctypes.byref(rank))
mine.value = rank.value + 1
mpi.MPI_Allreduce(ctypes.byref(mine), ctypes.byref(total), 1, kind, plus, world)
sys.stdout.write(f"rank {rank.value} on {socket.gethostname()}: {total.value}\\n")
mpi.MPI_Finalize()
"""
"""The same with MPICH, which names world, kind and operation by numbers."""
