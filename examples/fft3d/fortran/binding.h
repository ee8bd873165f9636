#ifdef USE_MPI_F08
#define BINDING_COMM type(MPI_Comm)
#else
#define BINDING_COMM integer
#endif
