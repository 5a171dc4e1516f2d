/* The records of a report, and what its runs have of each: a strip with a letter a run, and `.` where it was not in it. */
const records = index.rows.map(([address, title, letter, tags, age, strip, ms, chunk, places]) => {
  const outcome = index.outcomes[letter][0];
  const word = index.outcomes[letter][1];
  return { address, title, letter, outcome, word, tags, age, strip, ms, chunk, places };
});
const byAddress = new Map(records.map((record) => [record.address, record]));

function runsOf(record) {
  return [...record.strip].map((letter, at) => [`outcome:${wordOf(letter)}`, `run:${index.runs[at]}`]);
}
