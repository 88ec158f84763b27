package org.revenantdb.kafka.trials;

/** Fills a topic for those that only measure how fast it is read: each key, then random ones. */
public final class InputMain {
  private InputMain() {}

  /**
   * Creates the topic and fills it.
   *
   * @param arguments servers, topic, keys, records with random keys, seed
   * @throws InterruptedException if the thread is interrupted
   */
  public static void main(String[] arguments) throws InterruptedException {
    Broker.createTopics(arguments[0], Counting.PARTITIONS, arguments[1]);
    try (Input input =
        new Input(
            arguments[0],
            arguments[1],
            Integer.parseInt(arguments[2]),
            Long.parseLong(arguments[4]))) {
      input.sendEachKey();
      input.send(Integer.parseInt(arguments[3]));
    }
  }
}
