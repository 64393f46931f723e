"""Writes reference.tfevents with TensorBoard's own messages and record writer (pip install tensorboard numpy).

    python3 train/report/tensorboard/generate_reference.py

tensorboard_test.cpp expects the same events from our writer, byte for byte.
"""

import pathlib

import numpy as np
from tensorboard.compat.proto import event_pb2, summary_pb2, tensor_pb2, tensor_shape_pb2
from tensorboard.plugins.text import metadata as text_metadata
from tensorboard.summary.writer.record_writer import RecordWriter

TIME = 1700000000.25
NUMBERS = [-2.0, -0.5, 0.0, 0.0, 2.0**-45, 0.25, 1.0, 1.5, 1.5, 4096.0]


def value_event(step, **value):
    return event_pb2.Event(
        wall_time=TIME, step=step, summary=summary_pb2.Summary(value=[summary_pb2.Summary.Value(**value)]))


def text(tag, content, step):
    tensor = tensor_pb2.TensorProto(
        dtype="DT_STRING", string_val=[content.encode()],
        tensor_shape=tensor_shape_pb2.TensorShapeProto(dim=[tensor_shape_pb2.TensorShapeProto.Dim(size=1)]))
    kind = summary_pb2.SummaryMetadata(
        plugin_data=summary_pb2.SummaryMetadata.PluginData(
            plugin_name=text_metadata.PLUGIN_NAME,
            content=text_metadata.create_summary_metadata("", "").plugin_data.content))
    return value_event(step, tag=tag, tensor=tensor, metadata=kind)


def histogram(tag, numbers, step):
    """Buckets that grow by a tenth, the empty ones at both ends left out."""
    positive, limit = [], 1e-12
    while limit < 1e20:
        positive.append(limit)
        limit *= 1.1
    edges = [-x for x in reversed(positive)] + [0.0] + positive
    counts, _ = np.histogram(numbers, bins=edges)
    filled = np.nonzero(counts)[0]
    first, last = filled[0], filled[-1] + 1
    content = summary_pb2.HistogramProto(
        min=min(numbers), max=max(numbers), num=len(numbers), sum=sum(numbers),
        sum_squares=sum(x * x for x in numbers), bucket_limit=edges[first + 1:last + 1],
        bucket=counts[first:last].astype(float))
    return value_event(step, tag=tag, histo=content)


def events():
    yield event_pb2.Event(wall_time=TIME, file_version="brain.Event:2",
                          source_metadata=event_pb2.SourceMetadata(writer="cladtorch"))
    yield event_pb2.Event(wall_time=TIME, step=301,
                          session_log=event_pb2.SessionLog(status=event_pb2.SessionLog.START))
    yield value_event(301, tag="train/loss", simple_value=1.5)
    yield value_event(2**40, tag="train/lr", simple_value=3e-7)
    yield value_event(0, tag="train/grad_norm", simple_value=0.0)
    yield text("samples/text", "    Dünn ist das Eis.\n" * 20, 302)
    yield histogram("weights/wte.weight", NUMBERS, 302)


if __name__ == "__main__":
    with open(pathlib.Path(__file__).parent / "reference.tfevents", "wb") as file:
        writer = RecordWriter(file)
        for event in events():
            writer.write(event.SerializeToString())
