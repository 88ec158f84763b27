package org.revenantdb.cli;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.revenantdb.engine.admin.AdminReply;
import org.revenantdb.engine.admin.DatabaseView;
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

  private int list(DatabaseView view) throws IOException {
    for (AdminReply.SequenceEntry sequence : view.sequences()) {
      show(sequence);
    }
    return FINE;
  }

  private void show(AdminReply.SequenceEntry sequence) {
    if (json) {
      Map<String, Object> fields = new LinkedHashMap<>();
      fields.put("sequence", sequence.name());
      fields.put("position", sequence.position());
      fields.put("start", sequence.start());
      fields.put("increment", sequence.increment());
      fields.put("cacheSize", sequence.cacheSize());
      fields.put("order", sequence.order().toLowerCase(Locale.ROOT));
      json(fields);
    } else {
      line(
          "%-32s %,15d values used, from %d by %d"
              .formatted(
                  Escapes.shown(sequence.name()),
                  sequence.position(),
                  sequence.start(),
                  sequence.increment()));
    }
  }
}
