package io.stormplace.load;

import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.storm.task.OutputCollector;
import org.apache.storm.task.TopologyContext;
import org.apache.storm.topology.OutputFieldsDeclarer;
import org.apache.storm.topology.base.BaseRichBolt;
import org.apache.storm.tuple.Fields;
import org.apache.storm.tuple.Tuple;

/**
 * Takes as long for a tuple as it is said to, without working: many of them run on few processors. What an executor
 * does per second is limited as by work, so that more executors do more.
 */
public class SleepingBolt extends BaseRichBolt {
    private static final long serialVersionUID = 1;

    private final double serviceMs;
    private final String field;
    private transient OutputCollector collector;
    private transient double credit;
    private final double ratio;

    /**
     * A bolt.
     *
     * @param serviceMs how long each tuple takes, ms
     * @param ratio tuples that it hands on for each that it takes, at most 1; evenly spread
     * @param field name of the value, which it hands on as it is
     */
    public SleepingBolt(Double serviceMs, Double ratio, String field) {
        this.serviceMs = serviceMs;
        this.ratio = ratio;
        this.field = field;
    }

    @Override
    public void prepare(Map<String, Object> conf, TopologyContext context, OutputCollector output) {
        collector = output;
    }

    @Override
    public void execute(Tuple input) {
        try {
            TimeUnit.NANOSECONDS.sleep((long) (serviceMs * 1e6));
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            return;  // the worker ends: who sent the tuple sends it again
        }
        credit += ratio;
        if (credit >= 1.0) {
            credit -= 1.0;
            collector.emit(input, input.getValues());
        }
        collector.ack(input);
    }

    @Override
    public void declareOutputFields(OutputFieldsDeclarer declarer) {
        declarer.declare(new Fields(field));
    }
}
