/* The records of a report; its strip has a letter a run, and `.` where the record was not in it. */
const records = index.rows.map(([address, title, letter, tags, age, strip, ms, places]) => {
  const outcome = index.outcomes[letter][0];
  const word = index.outcomes[letter][1];
  return { address, title, outcome, word, tags, age, strip, ms, places };
});
const byAddress = new Map(records.map((record) => [record.address, record]));
