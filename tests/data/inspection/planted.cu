// Errors planted for compute-sanitizer: scripts/gpu_inspect.py --planted compiles and runs this.
#include <cstdio>

__global__ void strays(int *data, int n) {
    int i = threadIdx.x;
    if (i >= n) data[i] = i;               // write behind the end
    if (i == 0) data[1] = data[-3];        // read before the start
}

__global__ void misaligned(char *data) { *reinterpret_cast<int *>(data + 1) = 1; }

__global__ void strays_atomically(int *data, int n) { atomicAdd(data + n, 1); }

__global__ void strays_in_shared(int *out) {
    extern __shared__ int tile[];
    tile[threadIdx.x * 4096] = 1;
    out[threadIdx.x] = tile[0];
}

__global__ void races(int *out) {
    __shared__ int tile[64];
    tile[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = tile[63 - threadIdx.x];  // no barrier: read after write
    tile[threadIdx.x / 2] = 1;                  // write after read, write after write
}

int main(int argc, char **) {
    const int n = 64;
    int *data;
    cudaMalloc(&data, n * sizeof(int));
    printf("kerneljudge: case planted\n");
    fflush(stdout);
    if (argc > 1) {  // racecheck lets a stray access end the context
        races<<<1, n>>>(data);
        cudaDeviceSynchronize();
        printf("kerneljudge: done planted\n");
        return 0;
    }
    strays<<<1, n + 4>>>(data, n);
    cudaDeviceSynchronize();
    strays_atomically<<<2, 1>>>(data, n);
    cudaDeviceSynchronize();
    misaligned<<<1, 1>>>(reinterpret_cast<char *>(data));
    cudaDeviceSynchronize();
    strays_in_shared<<<1, 4, 1024>>>(data);
    cudaDeviceSynchronize();
    printf("kerneljudge: done planted\n");
    return 0;
}
