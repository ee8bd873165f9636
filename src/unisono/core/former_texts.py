"""Sentences that studies, tunings and profiles of earlier versions hold, in the words that they had then.

Such texts stay English where they are stored, and are translated where they are shown (see unisono.core.language). What
is written today has other words; these are listed so that an older document can still be read in another language.
"""

from __future__ import annotations

from unisono.core.language import N_

FORMER = (
    N_("{names} is {family}'s: left out with {mpi}."),
    N_("{names} are {family}'s: left out with {mpi}."),
    N_(
        "One launch setting, {setting}, had no time for even one launch: nothing is known of it. Continue with "
        "--resume and a larger --budget."
    ),
    N_(
        "{count} launch settings, {setting} the first of them, had no time for even one launch: nothing is known "
        "of them. Continue with --resume and a larger --budget."
    ),
    N_("{count} launch settings, {setting} the first of them, had no time for even one launch: {more}"),
    N_("One launch setting, {setting}, had no time for even one launch: {more}"),
    N_(
        "{count} of the effects looked for could not be told from noise ({cases}): measure longer, or on a "
        "quieter machine."
    ),
    N_(
        "Nothing was measured over nodes with {ppn} ranks a node. Predictions go by those with {known}, and "
        "nothing tells how far they are off."
    ),
    N_("Predictions count how many messages meet on the fullest link between nodes, as on the network {name}."),
    N_(
        "{case}: {what} and {than} have {size} alone in common: their ratio holds there and says nothing about "
        "other message sizes."
    ),
    N_(
        "mpirun of Open MPI 4 takes no -x beside a list of variables: take mca_base_env_list out of the parameter "
        "file or the environment for this"
    ),
    N_("the list of CPUs names some that are not there, or too few"),
    N_("mpirun ended too early, as if all was well; was a node lost?{stderr}"),
    N_("{count} calls found no room in the tables and are in no row; give UNISONO_PROFILE_MEMORY more"),
    N_("{count} calls found no room for their call path and are shown without one"),
    N_("{count} phases found no room for their names"),
    N_("{count} of {ranks} ranks wrote nothing: {shown}; they are in no row"),
    N_("the program did not end by MPI_Finalize but by {cause}: what follows is up to there"),
    N_("what {filter} leaves out is in no row: its time counts as the program's own"),
    N_(
        "the clocks of {nodes} nodes were compared by the messages between them; half of these comparisons are "
        "exact to {unsure} us or better, and a wait too short to be told so counts as not paired"
    ),
    N_(
        "of {total} s in point-to-point calls of all ranks, {sender} s waited for late senders and {receiver} s "
        "for late receivers; messages were paired for {share} of that time"
    ),
    N_("No candidate was faster, nor may one be by {worthwhile} or more."),
    N_("By what was measured, no setting saves {worthwhile} of its time or more."),
    N_("measured with {measured}, the program has {own}"),
    N_("Nothing of what it uses was measured: {more}"),
    N_("{setting} may be faster and was not tried to the end: {more}"),
    N_("{setting} may be faster and was not tried: {more}"),
    N_("{place}: not reproducible: other bits in some of these launches: {layouts}"),
    N_(
        "each of the {wanted} ranks was alone: what starts them and this MPI do not know one another (srun "
        "--mpi=list names what can be chosen)"
    ),
    N_(
        "IMB gives one average over all repetitions; taken is that of the slowest rank (t_max), which also stands "
        "for the median and the quartiles, which IMB does not tell."
    ),
    N_(
        "OSU gives one average over all repetitions; taken is that of the slowest rank, which also stands for the "
        "median and the quartiles, which OSU does not tell."
    ),
    N_(
        "OSU gives one average over all repetitions and all ranks, less than the slowest rank takes; it also "
        "stands for the median and the quartiles, which OSU does not tell."
    ),
    N_("Of tables that differ in the data type alone one was taken, that of MPI_FLOAT where there is one."),
    N_(
        "Reductions were not of floating-point numbers, and may take another time than those of most programs: "
        "OSU from 7.1 on adds up characters without -T MPI_FLOAT."
    ),
    N_("Buffers were in the memory of a device: what is decided is for such buffers alone."),
    N_("Continued on other nodes ({now}; begun on {before}): how nodes differ is in how launches differ."),
    N_(
        "Reductions are kept reproducible ({level}) in every launch, by our library: gains are over what it "
        "chooses by itself; the proof compares with the MPI as it is, which shows the price."
    ),
    N_(
        "This node has several domains (sockets, NUMA domains, caches), and {name} by itself binds no ranks "
        'within one: unisono/domains is compared only with placement = ["block"] in the study.'
    ),
    N_(
        "{nodes} x {ppn} ranks were not measured: the launch setting is that of {near_nodes} x {near_ppn}, the "
        "nearest that was (measured, nodes x ranks a node: {cases}); rules by message size apply to communicators "
        "of measured sizes only, others are left to the MPI"
    ),
    N_(
        "{nodes} x {ppn} ranks were not measured: their plan is predicted from those that were (nodes x ranks a "
        "node: {cases})"
    ),
    N_("Left out, because they are no collectives that are tuned: {names}."),
    N_("Left out, because they are no settings of the MPI or no collectives that are tuned: {names}."),
    N_(
        "The default is SimGrid's form of what an MPI chooses by itself (selector {selector}): its copies and "
        "reductions cost nothing, those of our algorithms take their time."
    ),
    N_("Assumed of {name}: {numbers}."),
    N_("Left out of {name}: {what}."),
    N_("our library serves nonblocking collectives in which a rank gives at most {most}; the MPI serves this one"),
    N_("coll={name} with coll_{name}_enable=0 is left out: it prefers what it switches off."),
)
