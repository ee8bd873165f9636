#include "element.h"

#include <math.h>
#include <string.h>

/* Gradient of node k's shape function at a point of the unit cube. */
static void gradient(int k, const double at[3], double slope[3])
{
    double value[3], sign[3];
    for (int d = 0; d < 3; d++) {
        int far = k >> d & 1;
        value[d] = far ? at[d] : 1 - at[d];
        sign[d] = far ? 1 : -1;
    }
    slope[0] = sign[0] * value[1] * value[2];
    slope[1] = value[0] * sign[1] * value[2];
    slope[2] = value[0] * value[1] * sign[2];
}

/* Two Gauss points in each direction integrate this element exactly. */
void element_stiffness(double young, double poisson, double stiffness[8][8][3][3])
{
    const double lambda = young * poisson / (1 + poisson) / (1 - 2 * poisson), shear = young / 2 / (1 + poisson);
    memset(stiffness, 0, 64 * sizeof stiffness[0][0]);
    for (int point = 0; point < 8; point++) {
        double at[3], slope[8][3];
        for (int d = 0; d < 3; d++)
            at[d] = 0.5 + ((point >> d & 1) ? 0.5 : -0.5) / sqrt(3);
        for (int k = 0; k < 8; k++)
            gradient(k, at, slope[k]);
        for (int a = 0; a < 8; a++)
            for (int b = 0; b < 8; b++) {
                double dot = slope[a][0] * slope[b][0] + slope[a][1] * slope[b][1] + slope[a][2] * slope[b][2];
                for (int i = 0; i < 3; i++)
                    for (int j = 0; j < 3; j++)
                        stiffness[a][b][i][j] += (lambda * slope[a][i] * slope[b][j] +
                                                  shear * slope[a][j] * slope[b][i] + (i == j ? shear * dot : 0)) /
                                                 8;
            }
    }
}
