package org.revenantdb.cli;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Sequence;
import org.revenantdb.engine.SequenceOptions;
import picocli.CommandLine.Command;

/** {@code sequences DIR}: the sequences. */
@Command(
    name = "sequences",
    description = "Lists the sequences of a database, with their options and the values used.",
    mixinStandardHelpOptions = true)
final class SequencesCommand extends Verb {
  SequencesCommand(Session session) {
    super(session);
  }

  @Override
  public Integer call() throws Exception {
    return session.read(directory, this::list);
  }

  private int list(Database db) {
    for (String name : db.sequenceNames()) {
      Sequence sequence = db.findSequence(name);
      if (sequence != null) { // it was dropped meanwhile
        show(sequence);
      }
    }
    return FINE;
  }

  private void show(Sequence sequence) {
    SequenceOptions options = sequence.options();
    if (json) {
      Map<String, Object> fields = new LinkedHashMap<>();
      fields.put("sequence", sequence.name());
      fields.put("position", sequence.position());
      fields.put("start", options.start());
      fields.put("increment", options.increment());
      fields.put("cacheSize", options.cacheSize());
      fields.put("order", options.order().toString().toLowerCase(Locale.ROOT));
      json(fields);
    } else {
      line(
          "%-32s %,15d values used, from %d by %d"
              .formatted(
                  Escapes.shown(sequence.name()),
                  sequence.position(),
                  options.start(),
                  options.increment()));
    }
  }
}
