#!/usr/bin/env python3
"""Makes and removes virtual clusters. Exits with 77 where that is not possible.

usage: virtual_cluster_test.py SCRIPT RONDO_INFO openmpi|mpich"""

import json
import signal
import subprocess
import sys
import time
import unittest

NOT_HERE = 77
ID = "251"  # so that a cluster which somebody uses stays as it is
SCRIPT = RONDO_INFO = MPI = ""


def cluster(action, *arguments, **options):
    return subprocess.run([SCRIPT, action, "--id", ID, *arguments], capture_output=True, text=True,
                          timeout=60, check=False, **options)


def namespaces():
    names = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True)
    return [line.split()[0] for line in names.stdout.splitlines() if line.startswith(f"rondo{ID}-")]


class VirtualCluster(unittest.TestCase):
    def tearDown(self):
        cluster("down")

    def test_each_host_is_a_node_and_nothing_stays(self):
        result = cluster("with", "--hosts", "3", "--ranks-per-host", "2", "--mpi", MPI, RONDO_INFO,
                         "--json")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        nodes = json.loads(result.stdout)["nodes"]
        self.assertEqual(nodes, [{"host": "host1", "ranks": [0, 1]}, {"host": "host2", "ranks": [2, 3]},
                                 {"host": "host3", "ranks": [4, 5]}])
        self.assertEqual(namespaces(), [])

    def test_links_have_the_rate_asked_for(self):
        self.assertEqual(cluster("up", "--hosts", "1", "--rate", "50mbit").returncode, 0)
        for name, device in ((f"rondo{ID}-1", "eth0"), (f"rondo{ID}-switch", "port1")):
            shaping = subprocess.run(["tc", "-n", name, "qdisc", "show", "dev", device],
                                     capture_output=True, text=True, check=True).stdout
            self.assertRegex(shaping, "tbf .*rate 50Mbit")

    def test_an_interrupted_one_is_removed(self):
        process = subprocess.Popen([SCRIPT, "with", "--id", ID, "--hosts", "2", "--mpi", MPI, "sh",
                                    "-c", "echo started; exec sleep 60"], stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, text=True)
        self.assertEqual(process.stdout.readline(), "started\n")
        begin = time.monotonic()
        process.send_signal(signal.SIGTERM)
        process.stdout.close()
        self.assertEqual(process.wait(), 128 + signal.SIGTERM)
        self.assertLess(time.monotonic() - begin, 30)
        self.assertEqual(namespaces(), [])

    def test_down_may_come_at_any_time(self):
        self.assertEqual(cluster("down").returncode, 0)
        self.assertEqual(cluster("up", "--hosts", "1").returncode, 0)
        self.assertEqual(cluster("up").returncode, 2)
        self.assertEqual(len(namespaces()), 2)  # the host and the switch
        self.assertEqual(cluster("down").returncode, 0)
        self.assertEqual(cluster("down").returncode, 0)
        self.assertEqual(namespaces(), [])

    def test_the_status_is_the_commands(self):
        result = cluster("with", "--hosts", "2", "--mpi", MPI, "sh", "-c", "exit 5")
        self.assertEqual(result.returncode, 5, result.stderr)

    def test_bad_usage_is_named(self):
        for arguments in (["with"], ["up", "--hosts", "0"], ["up", "--hosts", "x"], ["run", "true"],
                          ["up", "--bad", "1"], ["down", "--id", "256"], ["up", "--rate"]):
            result = cluster(*arguments)
            self.assertEqual((result.returncode, result.stdout), (2, ""), arguments)
            self.assertIn("virtual_cluster.sh: ", result.stderr)


if __name__ == "__main__":
    SCRIPT, RONDO_INFO, MPI = sys.argv[1:4]
    first = cluster("up")
    cluster("down")
    if first.returncode == NOT_HERE:
        print(f"SKIPPED: {first.stderr.strip()}")
        sys.exit(NOT_HERE)
    unittest.main(argv=sys.argv[:1], verbosity=2)
