#!/usr/bin/env python3
"""The job scripts of examples/slurm with stand-ins for Slurm's commands: a job that is stopped goes back into the queue,
goes on with another number of ranks, and ends with the bits of a run that was never stopped.

    jobs_test.py --program build/release/apps/cladtorch --ranks 2,3
"""

import argparse
import filecmp
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / 'examples' / 'slurm'
STAND_INS = Path(__file__).with_name('stand-ins')
STEPS = 300
SMALL = [f'--steps={STEPS}']
for setting in ('train.batch=2', 'model.layers=1', 'model.channels=32', 'model.context=32', 'train.eval_every=1000',
                'train.eval_batches=2', 'sample.count=0', 'data.story_bytes=100000', 'log.tensorboard=false'):
    SMALL += ['--set', setting]
JOB = {'ACCUMULATE': '4', 'SLURM_JOB_ID': '17', 'SLURM_CPUS_PER_TASK': '1'}

options = argparse.Namespace()


def environment(**more):
    # Open MPI starts its ranks itself, though this is a job of Slurm's to it.
    return dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT='1', OMPI_ALLOW_RUN_AS_ROOT_CONFIRM='1', OMPI_MCA_plm='rsh',
                OMPI_MCA_ras='^slurm', OMPI_MCA_rmaps_base_oversubscribe='1', OMP_WAIT_POLICY='passive',
                PRTE_MCA_rmaps_default_mapping_policy=':oversubscribe', **more)


class Jobs(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        self.run_folder = self.folder / 'run'

    def start(self, script, arguments, ranks=1, **more):
        variables = environment(**{'CLADTORCH': str(options.program), 'STAND_IN_FOLDER': str(self.folder),
                                   'PATH': f'{STAND_INS}:{os.environ["PATH"]}', **JOB, 'SLURM_NTASKS': str(ranks),
                                   'SLURM_NTASKS_PER_NODE': str(ranks), **more})
        return subprocess.Popen(['bash', str(SCRIPTS / script), *map(str, arguments)], env=variables, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def end(self, process):
        text, _ = process.communicate()
        return process.returncode, text

    def wait_for_steps(self, process, count):
        log = self.run_folder / 'log.jsonl'
        while not log.exists() or len(log.read_text().splitlines()) < count:
            if process.poll() is not None:
                self.fail(f'the job ended with {process.returncode}: {process.stdout.read()}')
            time.sleep(0.02)

    def check_stop_and_resume(self, script, signalled):
        """`signalled` is the process that Slurm would signal."""
        first, second = options.ranks
        process = self.start(script, [self.run_folder, *SMALL], first)
        self.wait_for_steps(process, 3)
        os.kill(signalled(process), signal.SIGUSR1)
        code, text = self.end(process)
        self.assertEqual(code, 130, text)
        self.assertEqual((self.folder / 'scontrol').read_text(), 'requeue 17\n')
        done = len((self.run_folder / 'log.jsonl').read_text().splitlines())
        self.assertLess(done, STEPS)

        code, text = self.end(self.start(script, [self.run_folder, *SMALL], second))
        self.assertEqual(code, 0, text)
        self.assertIn(f'at step {done} of {STEPS}', text)
        self.assertEqual((self.folder / 'scontrol').read_text(), 'requeue 17\n')

        alone = self.folder / 'alone'
        subprocess.run([options.program, 'train', *SMALL, '--set', 'train.accumulate=4', '--set', 'train.leaves=4',
                        '--out', str(alone)], env=environment(OMP_NUM_THREADS='1'), check=True, stdout=subprocess.DEVNULL)
        for file in ('model.safetensors', 'optimizer.safetensors'):
            self.assertTrue(filecmp.cmp(self.run_folder / 'last' / file, alone / 'last' / file, shallow=False), file)

    def test_srun(self):
        self.check_stop_and_resume('train.sbatch', lambda _: int((self.folder / 'launched').read_text()))

    @unittest.skipIf(shutil.which('mpirun') is None, 'there is no mpirun')
    def test_mpirun(self):
        self.check_stop_and_resume('train-mpirun.sbatch', lambda process: process.pid)

    def refused(self, script, arguments, **more):
        code, text = self.end(self.start(script, arguments, **more))
        self.assertEqual(code, 2, text)
        self.assertEqual(text.count('\n'), 1, text)
        self.assertTrue(text.startswith(f'{script}: '), text)
        return text

    def test_conditions(self):
        for script in ('train.sbatch', 'train-mpirun.sbatch'):
            self.assertIn('sbatch', self.refused(script, [self.run_folder], SLURM_JOB_ID=''))
            self.assertIn('no folder for the run', self.refused(script, []))
            self.assertIn("no program 'nothing'", self.refused(script, [self.run_folder], CLADTORCH='nothing'))
            self.assertIn(f"no folder '{self.folder}/none'", self.refused(script, [self.folder / 'none' / 'run']))
        self.assertIn('PMIx', self.refused('train.sbatch', [self.run_folder], STAND_IN_PLUGINS='none, pmi2'))

    def test_a_failure_is_not_repeated(self):
        code, text = self.end(self.start('train.sbatch', [self.run_folder, '--set', 'model.heads=3']))
        self.assertNotIn(code, (0, 130), text)
        self.assertFalse((self.folder / 'scontrol').exists())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--program', type=Path, default=ROOT / 'build/release/apps/cladtorch')
    parser.add_argument('--ranks', default='2,3', help='of the first job and of the second (default: 2,3)')
    parser.parse_args(namespace=options)
    options.ranks = tuple(int(count) for count in options.ranks.split(','))
    unittest.main(argv=sys.argv[:1], verbosity=2)


if __name__ == '__main__':
    main()
